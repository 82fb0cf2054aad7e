import AuthAgent
package import AuthModel
package import AuthWire

/// How long which session is not renewed, beside the socket: it outlives the agent, and not the login.
package struct PauseFile: RenewalPauseStore {
    /// Far above what a thousand sessions need.
    private static let maxBytes = 1 << 20

    private let file: RuntimeFile

    package init(beside socket: String) {
        file = RuntimeFile(path: SocketPath.neighbour("pauses", of: socket))
    }

    package func load() -> [SessionName: RenewalPause] {
        file.read(atMost: Self.maxBytes).map(RenewalPause.decode) ?? [:]
    }

    package func keep(_ pauses: [SessionName: RenewalPause]) {
        guard !pauses.isEmpty else { return file.remove() }
        // What cannot be kept costs a try too early after a restart, and nothing more.
        try? file.write(String(decoding: RenewalPause.encode(pauses), as: UTF8.self))
    }
}
