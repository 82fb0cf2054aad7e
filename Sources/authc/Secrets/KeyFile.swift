import AuthConnection
import AuthFiles
import AuthWire
import Glibc

/// Reads a key file. The agent gets the bytes, not the path: it opens no file for a client.
enum KeyFile {
    /// The agent reads no more of it at its start.
    private static let maxBytes = 1 << 16

    /// Requires a file that belongs to the user and that no other user can read, as the agent does at its start.
    static func read(_ path: String) throws(Failure) -> [UInt8] {
        // O_NONBLOCK: a pipe must not block.
        let number = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw .usage("cannot open \(path): \(SystemError.text(errno))") }
        let file = Descriptor(number)
        guard let found = FileStatus(of: file.number) else { throw .usage("\(path) is not a regular file") }
        switch found.privacyProblem(for: geteuid()) {
        case .notAFile:
            throw .usage("\(path) is not a regular file")
        case .otherOwner(let owner):
            throw .usage("the key \(path) belongs to user \(owner), not to \(geteuid())")
        case .accessibleToOthers:
            throw .usage("other users can open the key \(path)", hint: "run `chmod 600 \(ShellWord.quoted(path))`")
        case nil:
            break
        }
        return try FileText.read(file.number, named: path, atMost: maxBytes)
    }
}
