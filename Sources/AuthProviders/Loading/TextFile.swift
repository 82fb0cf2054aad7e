internal import AuthFiles
internal import AuthWire
internal import Glibc

/// Reads a configuration file: a regular file of limited size.
enum TextFile {
    /// - Parameter owner: the only user who may own and change it; `nil`: this user or root, and their private groups.
    /// - Returns: its text; `nil` if the file is missing.
    static func read(_ path: String, ownedBy owner: UInt32? = nil) throws(ProfileProblems) -> String? {
        // O_NONBLOCK: opening a pipe must not block the agent.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw problem(path, "a readable file", SystemError.text(errno))
        }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor), status.kind == .file else {
            throw problem(path, "a regular file", "something else")
        }
        // A user who can change it decides where passwords are sent.
        guard (owner.map { [$0] } ?? [geteuid(), 0]).contains(status.owner) else {
            let owners = owner.map { $0 == 0 ? "root" : "user \($0)" } ?? "you or root"
            throw problem(path, "a file owned by \(owners)", "a file of user \(status.owner)")
        }
        guard status.permissions & S_IWOTH == 0 else {
            throw problem(
                path, "a file that others cannot change (`chmod o-w \(ShellWord.quoted(path))`)",
                "a file that everybody can change")
        }
        guard
            status.permissions & S_IWGRP == 0
                || owner == nil && PrivateGroup.isPrivate(status.group, of: status.owner)
        else {
            throw problem(
                path, "a file that others cannot change (`chmod g-w \(ShellWord.quoted(path))`)",
                "one that group \(status.group) can")
        }
        guard status.size <= TOMLDocument.maxBytes else {
            throw problem(path, "at most \(TOMLDocument.maxBytes >> 10) KiB", "\(status.size >> 10) KiB")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while bytes.count <= TOMLDocument.maxBytes {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw problem(path, "a readable file", SystemError.text(errno)) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw problem(path, "UTF-8 text", "other bytes")
        }
        return text
    }

    /// The names in a folder that end in `.toml`, sorted; none if the folder is missing.
    static func names(in folder: String) -> [String] {
        let names = (try? FolderEntries.names(in: folder)) ?? []
        return names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.sorted()
    }

    private static func problem(_ path: String, _ expected: String, _ found: String) -> ProfileProblems {
        ProfileProblems([ProfileProblem(file: path, line: 0, key: "", expected: expected, found: found)])
    }
}
