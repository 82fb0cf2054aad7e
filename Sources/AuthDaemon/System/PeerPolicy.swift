package import AuthWire
import Glibc
import Synchronization

/// Which users may connect: the agent's own user, and those in the settings. Root has no special right.
package struct PeerPolicy: Sendable, Equatable {
    package let ownUserID: UInt32
    package let allowedUserIDs: Set<UInt32>

    package init(ownUserID: UInt32, allowedUserIDs: Set<UInt32> = []) {
        self.ownUserID = ownUserID
        self.allowedUserIDs = allowedUserIDs
    }

    /// For the user of this process.
    package static func own(allowing others: [UInt32]) -> PeerPolicy {
        PeerPolicy(ownUserID: geteuid(), allowedUserIDs: Set(others))
    }

    /// Why this peer is refused; `nil` if it is allowed.
    package func refusal(of peer: PeerCredentials) -> AgentError? {
        guard peer.userID != ownUserID, !allowedUserIDs.contains(peer.userID) else { return nil }
        return AgentError(
            .denied,
            "this agent belongs to user \(ownUserID) and does not serve user \(peer.userID); "
                + "its owner can allow it with allowed_user_ids in authd.toml")
    }
}

/// The policy of the current settings.
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
