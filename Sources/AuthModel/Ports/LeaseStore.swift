package import AuthWire

/// Lets one host at a time renew a session, in a store that hosts share (Docs/decisions/cluster.md).
///
/// A host holds a session under a lease, and the hold ends with the lease: a host that ends or sleeps keeps no session from the
/// others. Newer tokens of a sign-in are written by the host that holds the session, or if no host does.
///
/// Every adapter passes `Tests/AuthEtcdTests/EtcdLeaseTests.swift`.
package protocol LeaseStore: Sendable {
    /// - Returns: a lease of this host, and how long it lasts from the request on, unless it is kept alive.
    func grantLease() async throws(StoreError) -> GrantedLease

    /// - Returns: how long it lasts from the request on; `nil`: it has ended.
    func keepAlive(_ lease: LeaseID) async throws(StoreError) -> Duration?

    /// Acquires the hold of a session, unless another host has it.
    /// - Parameter version: of the record whose tokens will be sent. It is stored as this host's intent, unless the
    ///   intent of the last holder is still there: then ``claim(_:for:)`` replaces that.
    func hold(
        _ session: SessionName, for version: RecordVersion, under lease: LeaseID
    ) async throws(StoreError) -> HoldOutcome

    /// Replaces the last holder's intent with one for this version, or for the stored record if that has other tokens.
    /// - Returns: the stored record as it is then; `nil`: there is none.
    /// - Throws: ``ClusterFault/leaseLost`` if this host does not hold the session any more.
    func claim(_ session: SessionName, for version: RecordVersion) async throws(StoreError) -> SessionRecord?

    /// Releases a session without newer tokens. A write of newer tokens releases it in the same transaction.
    /// - Parameter end: what the next holder gets to know.
    func release(_ session: SessionName, leaving end: HoldOutcome.FormerHold) async throws(StoreError)
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
    /// This host holds it. The record is the stored one; `nil`: there is none.
    indirect case held(SessionRecord?, after: FormerHold)
    /// Another host holds it.
    case heldElsewhere

    /// How the last hold of a session ended, as to the tokens that are in its record now.
    package enum FormerHold: Sendable, Equatable {
        /// Nobody has sent these tokens to the provider, or it is known what the provider did.
        case answered
        /// They were sent, and it is unknown what the provider did: no response came, or an error that leaves it open.
        case unanswered
        /// Its lease ended first: the request may still be on its way, or its result is not written yet.
        case abandoned
    }
}
