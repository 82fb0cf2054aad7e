package import AuthModel
package import AuthWire

package enum LeaseEvent: Sendable {
    /// A renewal of the session is to begin.
    /// - Parameter generation: of the tokens that will be sent.
    case wanted(CallerID, SessionName, generation: UInt64)
    /// That renewal has ended without newer tokens in the store.
    /// - Parameter isAnswered: whether it is known what the provider has done.
    case ended(SessionName, isAnswered: Bool)
    /// The store has the newer tokens: it has given the session back in the same transaction.
    case written(SessionName)
    /// No host holds the session any more.
    case freed(SessionName)
    case callerGone(CallerID)

    // Results of the machine's own actions, which were sent then.
    case granted(Result<GrantedLease, StoreError>, sentAt: BootInstant)
    case kept(LeaseID, Result<Duration?, StoreError>, sentAt: BootInstant)
    indirect case holdEnded(SessionName, LeaseID, Result<HoldOutcome, StoreError>)

    case wake
}

package enum LeaseAction: Sendable, Equatable {
    case grant
    case keep(LeaseID)
    case hold(SessionName, generation: UInt64, LeaseID)
    case release(SessionName, LeaseID, isAnswered: Bool)
}

package enum LeaseReply: Sendable, Equatable {
    /// This host holds the session. The record is the stored one; `nil`: there is none any more.
    /// - Parameter isInterrupted: whether its tokens were sent before, and nobody knows what the provider did.
    indirect case held(SessionRecord?, isInterrupted: Bool)
    case failure(StoreError)
}
