package import AuthWire
import Glibc
import Synchronization

/// Who may speak to the agent: its own user, and those whom the settings name. Root is nobody special.
package struct PeerPolicy: Sendable, Equatable {
    package let ownUserID: UInt32
    package let allowedUserIDs: Set<UInt32>

    package init(ownUserID: UInt32, allowedUserIDs: Set<UInt32> = []) {
        self.ownUserID = ownUserID
        self.allowedUserIDs = allowedUserIDs
    }

    /// For the user that this process runs as.
    package static func own(allowing others: [UInt32]) -> PeerPolicy {
        PeerPolicy(ownUserID: geteuid(), allowedUserIDs: Set(others))
    }

    /// Why this peer is refused; `nil` when it is welcome.
    package func refusal(of peer: PeerCredentials) -> AgentError? {
        guard peer.userID != ownUserID, !allowedUserIDs.contains(peer.userID) else { return nil }
        return AgentError(
            .denied,
            "this agent belongs to user \(ownUserID) and does not serve user \(peer.userID); "
                + "its owner can allow it with allowed_user_ids in authd.toml")
    }
}

/// The policy as the settings last had it; it holds for connections made from then on.
package final class CurrentPeerPolicy: Sendable {
    private let current: Mutex<PeerPolicy>

    package init(_ policy: PeerPolicy) {
        current = Mutex(policy)
    }

    package var now: PeerPolicy {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
