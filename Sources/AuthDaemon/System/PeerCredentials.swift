import CSystemd

/// The peer of a Unix socket, as the kernel recorded it at connect(2) (SO_PEERCRED), or the sender of what was received
/// (SCM_CREDENTIALS, unix(7)).
package struct PeerCredentials: Sendable, Equatable {
    /// 0 if the peer is in a process namespace that is not below ours.
    package let processID: Int32
    package let userID: UInt32

    package init(processID: Int32, userID: UInt32) {
        self.processID = processID
        self.userID = userID
    }

    init(_ peer: authd_peer) { self.init(processID: peer.pid, userID: peer.uid) }

    /// `nil` if the descriptor is not a connected Unix socket.
    package init?(descriptor: CInt) {
        var peer = authd_peer()
        guard unsafe authd_peer_of(descriptor, &peer) == 0 else { return nil }
        self.init(peer)
    }
}
