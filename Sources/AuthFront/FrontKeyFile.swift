import AuthFiles
package import AuthGateway
package import AuthWire
import Glibc

/// A key that stays the same, for clients that are configured once.
package enum FrontKeyFile {
    private static let mostBytes = 1 << 10

    /// - Throws: if other users could read the file, or it has no key.
    package static func read(_ path: String) throws(AgentError) -> FrontKey {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw refused(path, "cannot be read (\(SystemError.text(errno)))") }
        defer { close(descriptor) }
        guard let found = FileStatus(of: descriptor) else { throw refused(path, "is not a file") }
        switch found.privacyProblem(for: geteuid()) {
        case .notAFile:
            throw refused(path, "is not a file")
        case .otherOwner, .accessibleToOthers:
            throw refused(path, "can be read by others: run `chmod 600 \(ShellWord.quoted(path))`")
        case nil:
            break
        }
        var bytes = [UInt8](repeating: 0, count: mostBytes)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw refused(path, "cannot be read (\(SystemError.text(errno)))") }
        do throws(AgentError) {
            return try FrontKey(text: String(decoding: bytes[..<count], as: UTF8.self))
        } catch {
            throw refused(path, "has no key. \(error.message)")
        }
    }

    private static func refused(_ path: String, _ reason: String) -> AgentError {
        AgentError(.validation, "The key file \(VisibleText.line(path)) \(reason)")
    }
}
