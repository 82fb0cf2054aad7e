import AuthClient
import AuthFiles
import AuthWire
import Glibc

/// A small program that calls a helper. Another program looks for it by its name.
struct HelperScript {
    private static let start = "#!/bin/sh\nexec authc helper "
    private static let longestFile = 4 << 10

    let path: String
    let line: String

    /// - Parameter words: the helper with its options. The arguments of the other program follow.
    init(_ words: String, session: SessionName?, at path: String) {
        self.path = path
        line = "exec authc helper \(words)" + (session.map { " -s \($0)" } ?? "") + " \"$@\""
    }

    /// A folder on the user's PATH that belongs to the user (file-hierarchy(7)).
    static func programFolder() throws(Failure) -> String { try home() + "/.local/bin" }

    static func home() throws(Failure) -> String {
        guard let home = environmentValue("HOME"), home.hasPrefix("/") else { throw .usage("there is no home folder") }
        return home
    }

    /// Another program's file is not replaced.
    func install(dryRun: Bool) throws(SystemFailure) {
        guard try isAbsentOrOwn() else { throw SystemFailure("replace \(path), another program", number: EEXIST) }
        if !dryRun {
            Self.makeFolders(for: path)
            try AtomicFile(path: path).replace(with: Array("#!/bin/sh\n\(line)\n".utf8))
            _ = unsafe chmod(path, 0o755)
        }
        Output.note("\(path): \(line)")
    }

    func remove(dryRun: Bool) throws(SystemFailure) {
        guard unsafe access(path, F_OK) == 0 else { return Output.note("there is no \(path)") }
        guard try isAbsentOrOwn() else { throw SystemFailure("remove \(path), another program", number: EEXIST) }
        if !dryRun { try AtomicFile(path: path).remove() }
        Output.note("\(path) removed")
    }

    /// Prints a note if a shell would not find the program.
    func noteIfNotOnPath(for program: String) {
        let folder = PrivateFolder.parent(of: path)
        let path = environmentValue("PATH") ?? ""
        guard !path.split(separator: ":").contains(Substring(folder)) else { return }
        Output.note("  \(folder) is not on the PATH: \(program) will not find the program there")
    }

    /// Another program of that name that a shell would find.
    func other(named name: String) -> String? {
        let folders = (environmentValue("PATH") ?? "").split(separator: ":").map { "\($0)/\(name)" }
        return folders.first { unsafe $0 != path && access($0, X_OK) == 0 }
    }

    /// Also makes the parents, in the user's home.
    static func makeFolders(for path: String) {
        let folder = PrivateFolder.parent(of: path)
        guard folder.count > 1, unsafe access(folder, F_OK) != 0 else { return }
        makeFolders(for: folder)
        _ = unsafe mkdir(folder, 0o755)
    }

    private func isAbsentOrOwn() throws(SystemFailure) -> Bool {
        guard let bytes = try AtomicFile(path: path).read(atMost: Self.longestFile) else { return true }
        return String(decoding: bytes, as: UTF8.self).hasPrefix(Self.start)
    }
}
