package import AuthModel
package import AuthWire

/// What the lock of the agent reacts to.
package enum LockEvent: Sendable {
    case configured(LockSettings)
    case lockRequested(CallerID)
    /// The machine is about to sleep. The caller gets a reply when the machine may sleep.
    case sleeping(CallerID)
    /// Whether all login sessions of the user are locked now.
    case loginSessions(areLocked: Bool)
    /// When a client last made a request of a class other than `status`.
    case idleTick(lastUse: BootInstant)
    case unlockRequested(CallerID, Secret?)
    case passphraseRequested(CallerID, new: Secret, current: Secret?)
    /// Whether a check of presence may unlock the agent. The caller gets the status, or why it may not.
    case presenceRequested(CallerID)
    /// The user's presence was checked.
    case presenceConfirmed(CallerID)
    case callerGone(CallerID)

    // Results of the machine's own actions.
    /// - Parameter version: the version of the record.
    case saved(version: Int, Result<Void, StoreError>)
    /// Whether the passphrase is the right one.
    case checked(Result<Bool, StoreError>)
    case passphraseSet(Result<Void, StoreError>)
    /// Everything that was accepted before the lock has ended.
    case closed
    case wake
}

package enum LockAction: Sendable, Equatable {
    /// Writes the record. There is one write at a time.
    case save(LockRecord, version: Int)
    /// The state that clients see, and that requests are checked against.
    case publish(LockStatus)
    /// Ends what was accepted before, and drops what must not be kept.
    case close
    /// Hands sessions over again.
    case open
    case check(Secret)
    case setPassphrase(Secret)
    /// Has ``LockEvent/idleTick(lastUse:)`` sent now.
    case readLastUse
    case log(String)
}

package enum LockReply: Sendable, Equatable {
    case status(LockStatus)
    case failure(AgentError)
}
