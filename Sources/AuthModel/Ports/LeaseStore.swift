package import AuthWire

/// Lets one host at a time renew a session, in a store that hosts share (Docs/decisions/cluster.md).
///
/// A host holds a session under a lease, and the hold ends with the lease: a host that ends or sleeps keeps no session from the
/// others. While a host holds a session, no other host writes newer tokens of the same sign-in.
package protocol LeaseStore: Sendable {
    /// - Returns: a lease of this host, and how long it lasts from the request on, unless it is kept.
    func grantLease() async throws(StoreError) -> GrantedLease

    /// - Returns: how long it lasts from the request on; `nil`: it has ended.
    func keep(_ lease: LeaseID) async throws(StoreError) -> Duration?

    /// Takes a session, to renew it, unless another host holds it.
    /// - Parameter generation: of the tokens that will be sent.
    func hold(_ session: SessionName, generation: UInt64, under lease: LeaseID) async throws(StoreError) -> HoldOutcome

    /// Gives a session back without newer tokens. A write of newer tokens gives it back by itself.
    /// - Parameter isAnswered: whether it is known what the provider has done. If not, the next host is told so.
    func release(_ session: SessionName, from lease: LeaseID, isAnswered: Bool) async throws(StoreError)

    /// Whether this host lost its hold, and another host has renewed or replaced the session since. The tokens that were to be
    /// written are then older, whatever their dates are.
    func wasOvertaken(_ session: SessionName) async -> Bool
}

package struct LeaseID: Sendable, Hashable {
    package let number: Int64

    package init(_ number: Int64) {
        self.number = number
    }
}

package struct GrantedLease: Sendable, Equatable {
    package let id: LeaseID
    package let lasts: Duration

    package init(_ id: LeaseID, lasts: Duration) {
        (self.id, self.lasts) = (id, lasts)
    }
}

package enum HoldOutcome: Sendable, Equatable {
    /// This host holds it. The record is the stored one; `nil`: there is none any more.
    indirect case held(SessionRecord?, after: FormerHold)
    /// Another host holds it.
    case taken

    /// How the last hold of a session ended, of the tokens that are in its record now.
    package enum FormerHold: Sendable, Equatable {
        /// Nobody has sent these tokens to the provider, or it is known what the provider did.
        case answered
        /// They were sent, and no response came in time.
        case unanswered
        /// Its lease ended first: the request may still be on its way.
        case abandoned
    }
}
