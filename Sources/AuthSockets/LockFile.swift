package import AuthFiles
import Glibc

/// The right to be the agent of one socket, or of one keyring: an open-file-description lock on `NAME.lock`, which contains our
/// process ID.
///
/// The kernel releases it when the process ends. The file stays: removing a lock file is a race.
package final class LockFile: Sendable {
    package enum Refusal: Error, Sendable, Equatable {
        /// `processID` is `nil` if the other process has not written it yet.
        case held(processID: Int32?)
        case failed(SystemFailure)
    }

    package let path: String
    private let descriptor: CInt

    /// - Throws: ``Refusal/held(processID:)`` at once if another process has it; nothing has changed then.
    package init(beside socket: String) throws(Refusal) {
        path = socket + ".lock"
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed(SystemFailure("open \(path)")) }
        if let reason = FileLock.lock(descriptor) {
            defer { close(descriptor) }
            guard reason == EAGAIN || reason == EACCES else {
                throw .failed(SystemFailure("lock \(path)", number: reason))
            }
            throw .held(processID: Self.processID(in: descriptor))
        }
        write("\(getpid())\n")
    }

    deinit {
        close(descriptor)
    }

    /// A file of the same length is only overwritten: shortening it may take milliseconds on a busy disk.
    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe pwrite(descriptor, bytes, bytes.count, 0)
        if lseek(descriptor, 0, SEEK_END) > bytes.count { ftruncate(descriptor, off_t(bytes.count)) }
    }

    private static func processID(in descriptor: CInt) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count], as: UTF8.self).prefix { $0.isNumber })
    }
}
