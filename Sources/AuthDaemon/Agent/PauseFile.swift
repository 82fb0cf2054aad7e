import AuthAgent
import AuthFiles
package import AuthModel
package import AuthWire

/// How long which session is not renewed, beside the socket: it outlives the agent, and not the login.
package struct PauseFile: RenewalPauseStore {
    /// Far above what a thousand sessions need.
    private static let maxBytes = 1 << 20

    private let file: AtomicFile

    package init(beside socket: String) {
        file = AtomicFile(path: SocketPath.neighbour("pauses", of: socket))
    }

    package func load() -> [SessionName: RenewalPause] {
        RenewalPause.decode((try? file.read(atMost: Self.maxBytes)) ?? [])
    }

    package func keep(_ pauses: [SessionName: RenewalPause]) {
        guard !pauses.isEmpty else { return (try? file.remove(durably: false)) ?? () }
        // What cannot be kept costs a try too early after a restart, and nothing more.
        try? file.replace(with: RenewalPause.encode(pauses), durably: false)
    }
}
