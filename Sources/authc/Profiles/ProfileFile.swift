import AuthClient
import Glibc

/// The file of a new profile, which is never there in part.
enum ProfileFile {
    /// Where the agent looks for profiles of the user.
    static func usualPath(of name: String) throws(Failure) -> String {
        // A relative one is to be ignored (XDG Base Directory Specification).
        if let folder = environmentValue("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return "\(folder)/authd/providers/\(name).toml"
        }
        guard let home = environmentValue("HOME"), home.hasPrefix("/") else {
            throw .usage("there is no home folder for the profile", hint: "name a file: --output FILE")
        }
        return "\(home)/.config/authd/providers/\(name).toml"
    }

    /// - Parameters:
    ///   - replacing: whether an existing file is replaced.
    ///   - hint: what the user can do if it exists and is not replaced.
    static func write(
        _ text: String, to path: String, replacing: Bool, ifExists hint: String
    ) throws(Failure) {
        for end in path.indices.dropFirst() where path[end] == "/" { _ = unsafe mkdir(String(path[..<end]), 0o755) }
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        // The agent does not read files whose name begins with a dot.
        let temporary = path[..<slash] + "." + path[slash...].prefix(200) + ".authc-\(getpid())"
        let number = unsafe open(String(temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard number >= 0 else { throw failed(path, hint) }
        let file = Descriptor(number)
        defer { unsafe unlink(String(temporary)) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file.number, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { throw failed(path, hint) }
            rest = rest.dropFirst(max(0, written))
        }
        guard fsync(file.number) == 0 || errno == EINVAL else { throw failed(path, hint) }
        // A link fails if the name exists. A rename replaces it.
        let isDone = unsafe replacing ? rename(String(temporary), path) == 0 : link(String(temporary), path) == 0
        guard isDone else { throw failed(path, hint) }
    }

    private static func failed(_ path: String, _ hint: String) -> Failure {
        if errno == EEXIST {
            return .usage("\(path) already exists", hint: hint)
        }
        return .usage("cannot write \(path): \(SystemError.text(errno))")
    }
}
