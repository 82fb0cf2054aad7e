package import AuthWire

/// The machine's network, as the desktop's own monitor tells it.
package protocol NetworkWatch: Sendable {
    /// The present state first, then each change.
    func states() -> AsyncStream<NetworkState>
}
