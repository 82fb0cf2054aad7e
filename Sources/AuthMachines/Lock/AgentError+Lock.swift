internal import AuthModel
internal import AuthWire

extension AgentError {
    static let notLocked = AgentError(
        .conflict,
        "The agent is not locked. To open the store of the sessions, run `authc store unlock`.",
        cause: "not_locked")

    static let noLockPassphrase = AgentError(
        .validation,
        "The agent does not lock without a passphrase, because nothing could unlock it: set one with "
            + "`authc lock --set-passphrase`.", cause: "no_passphrase")

    /// The agent is locked, and no passphrase can be checked.
    static let noLockVerifier = AgentError(
        .validation,
        "The lock has no passphrase, or its file cannot be read. Stop authd, remove the files lock and lock-passphrase "
            + "from its state folder, and start it again.", cause: "no_passphrase")

    static let lockPassphraseNeeded = AgentError(
        .validation, "The passphrase of the lock is required.", cause: "passphrase")

    static let noUnlockByPresence = AgentError(
        .denied, "The settings do not let a check of presence unlock the agent: `presence` in [lock] does.",
        cause: "no_unlock_by_presence")

    static let lockPassphraseTooShort = AgentError(
        .validation, "The passphrase of the lock must have \(Limits.shortestPassphrase) bytes or more.",
        cause: "new_passphrase")

    static let wrongLockPassphrase = AgentError(
        .refused, "The passphrase of the lock is wrong.", cause: "passphrase")

    static let attemptInProgress = AgentError(
        .busy, "Another passphrase is being checked.", cause: "attempt_in_progress",
        retryAfter: retryWhenBusy)

    static func attemptsPaused(for time: Duration) -> AgentError {
        AgentError(
            .denied,
            "After \(LockRecord.mostFailures) wrong passphrases, authd checks none for a few minutes.",
            cause: "paused", retryAfter: time)
    }

    static func attemptNotCounted(_ error: StoreError) -> AgentError {
        AgentError(
            .internal_, "The passphrase was not checked, because the attempt could not be written: \(error.reasonText)",
            cause: "state_not_written")
    }

    static func notChecked(_ error: StoreError) -> AgentError {
        AgentError(.internal_, "The passphrase could not be checked: \(error.reasonText)", cause: "not_checked")
    }

    static func lockNotWritten(_ error: StoreError) -> AgentError {
        AgentError(
            .internal_,
            "The agent is locked, but a restart would unlock it, because its state could not be written: "
                + error.reasonText, cause: "state_not_written")
    }

    static func passphraseNotWritten(_ error: StoreError) -> AgentError {
        AgentError(
            .internal_, "The passphrase could not be written: \(error.reasonText)", cause: "state_not_written")
    }
}

extension StoreError {
    fileprivate var reasonText: String {
        if case .failed(let reason) = self { reason } else { "\(self)" }
    }
}
