package import AuthModel
package import AuthWire

/// What can happen to the holds of a host.
package enum LeaseEvent: Sendable {
    /// A renewal of the session is to begin.
    /// - Parameter version: of the record whose tokens will be sent.
    case wanted(CallerID, SessionName, for: RecordVersion)
    /// The renewal of that caller has ended without newer tokens that are to be written.
    /// - Parameter end: what the next holder gets to know.
    case ended(CallerID, SessionName, leaving: HoldOutcome.FormerHold)
    /// The renewal of that caller has ended with newer tokens that are to be written: the hold lasts until then.
    case renewed(CallerID, SessionName)
    /// The session has no unwritten tokens: those of this caller's renewal are not to be written any more.
    case nothingToWrite(CallerID, SessionName)
    /// The store has newer tokens: it has released the session in the same transaction.
    case written(SessionName)
    /// No host holds the session any more.
    case released(SessionName)
    case callerGone(CallerID)

    // Results of the machine's own actions, which were sent then.
    case granted(Result<GrantedLease, StoreError>, sentAt: BootInstant)
    case keptAlive(LeaseID, Result<Duration?, StoreError>, sentAt: BootInstant)
    indirect case holdEnded(SessionName, LeaseID, Result<HoldOutcome, StoreError>)
    indirect case claimed(SessionName, LeaseID, Result<SessionRecord?, StoreError>)
    case releaseEnded(SessionName)

    case wake
}

/// An action for the holds of a host.
package enum LeaseAction: Sendable, Equatable {
    case grant
    case keepAlive(LeaseID)
    case hold(SessionName, for: RecordVersion, LeaseID)
    case claim(SessionName, for: RecordVersion, LeaseID)
    case release(SessionName, leaving: HoldOutcome.FormerHold)
}

/// The reply to a renewal that wants its session.
package enum LeaseReply: Sendable, Equatable {
    /// This host holds the session. The record is the stored one; `nil`: there is none.
    /// - Parameter isInterrupted: whether its tokens were sent before, and nobody knows what the provider did.
    indirect case held(SessionRecord?, isInterrupted: Bool)
    case failure(StoreError)
}
