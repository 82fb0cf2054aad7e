import AuthConnection
import AuthFiles
import AuthWire
import Glibc

/// A small program that calls a helper. Another program looks for it by its name.
struct HelperScript {
    private static let interpreter = "#!/bin/sh\n"
    private static let start = "exec authc helper "

    let path: String
    let line: String

    /// - Parameter words: the helper with its options. The arguments of the other program follow.
    init(_ words: String, session: SessionName?, at path: String) {
        self.path = path
        line = Self.start + words + (session.map { " -s \($0)" } ?? "") + " \"$@\""
    }

    /// A folder on the user's PATH that belongs to the user (file-hierarchy(7)).
    static func programFolder() throws(Failure) -> String { try home() + "/.local/bin" }

    static func home() throws(Failure) -> String {
        guard let home = environmentValue("HOME"), home.hasPrefix("/") else { throw .usage("there is no home folder") }
        return home
    }

    static func isLink(_ path: String) -> Bool {
        // readlink(2) fails for everything else.
        var start: CChar = 0
        return unsafe readlink(path, &start, 1) >= 0
    }

    /// Another program's file is not replaced.
    func install(dryRun: Bool) throws(Failure) {
        guard try isAbsentOrOwn() else { throw .usage("\(path) is another program, and was not replaced") }
        if !dryRun {
            try Failure.ofFile { () throws(SystemFailure) in
                MissingFolders.create(for: path)
                try AtomicFile(path: path).replace(
                    with: Array("\(Self.interpreter)\(line)\n".utf8), attributes: .init(mode: 0o755))
            }
        }
        Output.note("\(path): \(line)")
    }

    func remove(dryRun: Bool) throws(Failure) {
        guard Self.isLink(path) || (unsafe access(path, F_OK)) == 0 else { return Output.note("there is no \(path)") }
        guard try isAbsentOrOwn() else { throw .usage("\(path) is another program, and was not removed") }
        if !dryRun {
            try Failure.ofFile { () throws(SystemFailure) in try AtomicFile(path: path).remove() }
        }
        Output.note("\(path) removed")
    }

    /// Prints a note if a shell would not find the program.
    func noteIfNotOnPath(for program: String) {
        let folder = PrivateFolder.parent(of: path)
        guard !Self.searchedFolders.contains(folder) else { return }
        Output.note("  \(folder) is not on the PATH: \(program) will not find the program there")
    }

    /// Another program of that name that a shell would find.
    func other(named name: String) -> String? {
        Self.searchedFolders.map { "\($0)/\(name)" }.first { candidate in
            candidate != path && (unsafe access(candidate, X_OK)) == 0 && (try? Self.isOwn(candidate)) != true
        }
    }

    /// The folders of the PATH, without a slash at the end.
    private static var searchedFolders: [String] {
        (environmentValue("PATH") ?? "").split(separator: ":").map { folder in
            var folder = folder
            while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
            return String(folder)
        }
    }

    /// A link is another program's: its target may have any name.
    private func isAbsentOrOwn() throws(Failure) -> Bool {
        guard !Self.isLink(path) else { return false }
        return try Failure.ofFile { () throws(SystemFailure) in try Self.isOwn(path) ?? true }
    }

    /// `nil` if it is missing.
    private static func isOwn(_ path: String) throws(SystemFailure) -> Bool? {
        let expected = Array((interpreter + start).utf8)
        return try AtomicFile(path: path).read(atMost: expected.count).map { $0 == expected }
    }
}
