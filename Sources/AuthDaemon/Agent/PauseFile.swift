package import AuthCore
package import AuthWire
import Glibc

/// How long which session is not renewed, beside the socket: it outlives the agent, and not the login.
package struct PauseFile: PauseKeeper {
    /// Far above what a thousand sessions need.
    private static let mostBytes = 1 << 20

    private let path: String

    package init(beside socket: String) {
        path = SocketFolder.folder(of: socket) + "/pauses"
    }

    package func load() -> [SessionName: RenewalPause] {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return [:] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count < Self.mostBytes {
            let count = unsafe read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return RenewalPause.decode(bytes)
    }

    package func keep(_ pauses: [SessionName: RenewalPause]) {
        let file = RuntimeFile(path: path)
        guard !pauses.isEmpty else { return file.remove() }
        // What cannot be kept costs a try too early after a restart, and nothing more.
        try? file.write(String(decoding: RenewalPause.encode(pauses), as: UTF8.self))
    }
}
