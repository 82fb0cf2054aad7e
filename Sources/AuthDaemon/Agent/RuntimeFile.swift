import Glibc

/// A small file beside the socket, for others to read without asking the agent, or of the agent's own state. It holds no
/// secret.
package struct RuntimeFile: Sendable {
    /// What a durable replacement is made of.
    package enum Step: Sendable, Equatable {
        case syncedFile, replaced, syncedFolder
    }

    package let path: String
    private let note: @Sendable (Step) -> Void

    /// - Parameter note: called after each step that the kernel has taken.
    package init(path: String, note: @escaping @Sendable (Step) -> Void = { _ in }) {
        self.path = path
        self.note = note
    }

    /// Replaces the file by rename, so that a reader sees one text or the other.
    /// - Parameter durably: it survives a loss of power, too (fsync(2)).
    package func write(_ text: String, durably: Bool = false) throws(SystemFailure) {
        let fresh = path + ".new"
        let descriptor = unsafe open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure("make \(fresh)") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemFailure("write \(fresh)")
        }
        if durably {
            guard fsync(descriptor) == 0 else { throw SystemFailure("write \(fresh) to the disk") }
            note(.syncedFile)
        }
        guard unsafe rename(fresh, path) == 0 else { throw SystemFailure("replace \(path)") }
        note(.replaced)
        if durably {
            try Self.sync(folder: SocketFolder.folder(of: path))
            note(.syncedFolder)
        }
    }

    static func sync(folder: String) throws(SystemFailure) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure("open the folder \(folder)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemFailure("write the folder \(folder) to the disk") }
    }

    /// `nil` where there is none that can be read; no more than the limit of a longer one.
    func read(atMost limit: Int) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit, 1 << 14))
        while bytes.count < limit {
            let count = unsafe Glibc.read(descriptor, &chunk, min(chunk.count, limit - bytes.count))
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    package func remove() {
        unsafe unlink(path)
    }
}
