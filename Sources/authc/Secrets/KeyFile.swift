import AuthClient
import AuthWire
import CLinux
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
        var found = stat()
        guard unsafe fstat(file.number, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            throw .usage("\(path) is not a regular file")
        }
        guard found.st_uid == geteuid() else {
            throw .usage("the key \(path) belongs to user \(found.st_uid), not to \(geteuid())")
        }
        guard found.st_mode & 0o077 == 0 else {
            throw .usage("other users can open the key \(path)", hint: "run `chmod 600 \(ShellWord.quoted(path))`")
        }
        return try FileText.read(file.number, named: path, atMost: maxBytes)
    }
}
