internal import AuthModel
internal import AuthWire

/// Attempts to unlock the agent, and changes of the passphrase, which need the present one.
extension LockMachine {
    struct Attempt {
        enum Stage: Equatable {
            /// Written as a failure by this version of the record.
            case counting(version: Int)
            case checking, setting
        }

        let caller: CallerID
        let passphrase: Secret
        /// `nil`: the attempt is to unlock the agent.
        var newPassphrase: Secret?
        var stage = Stage.checking
    }

    mutating func unlock(_ caller: CallerID, _ passphrase: Secret?, _ turn: inout LockTurn) {
        guard record.lock != nil else { return turn.reply(.failure(.notLocked), to: caller) }
        guard hasPassphrase else { return turn.reply(.failure(.noLockVerifier), to: caller) }
        guard let passphrase else { return askForPassphrase(caller, &turn) }
        begin(Attempt(caller: caller, passphrase: passphrase), &turn)
    }

    mutating func setPassphrase(_ caller: CallerID, _ new: Secret, _ current: Secret?, _ turn: inout LockTurn) {
        guard record.lock == nil else { return turn.reply(.failure(.agentLocked), to: caller) }
        guard new.count >= Limits.shortestPassphrase else {
            return turn.reply(.failure(.lockPassphraseTooShort), to: caller)
        }
        if !hasPassphrase, attempt == nil {
            attempt = Attempt(caller: caller, passphrase: new, newPassphrase: new, stage: .setting)
            return turn.act(.setPassphrase(new))
        }
        guard let current else {
            guard hasPassphrase else { return turn.reply(.failure(.attemptInProgress), to: caller) }
            return askForPassphrase(caller, &turn)
        }
        begin(Attempt(caller: caller, passphrase: current, newPassphrase: new), &turn)
    }

    /// During a pause no passphrase is checked, so the user is not asked for one. An attempt in progress counts as
    /// failed until it ends, and begins no pause before that.
    private mutating func askForPassphrase(_ caller: CallerID, _ turn: inout LockTurn) {
        guard attempt != nil || !isPaused(for: caller, &turn) else { return }
        save(&turn)
        turn.reply(.failure(.lockPassphraseNeeded), to: caller)
    }

    /// Refuses the call if attempts are paused.
    private mutating func isPaused(for caller: CallerID, _ turn: inout LockTurn) -> Bool {
        // After the clock was set back, a pause begins again once.
        if record.correctDates(at: turn.now.wall) { version += 1 }
        guard let end = record.pause(at: turn.now.wall) else { return false }
        save(&turn)
        turn.reply(.failure(.attemptsPaused(for: end - turn.now.wall)), to: caller)
        return true
    }

    private mutating func begin(_ new: Attempt, _ turn: inout LockTurn) {
        guard attempt == nil else { return turn.reply(.failure(.attemptInProgress), to: new.caller) }
        guard !isPaused(for: new.caller, &turn) else { return }
        record.recordFailure(at: turn.now.wall)
        version += 1
        attempt = new
        attempt?.stage = .counting(version: version)
        save(&turn)
    }

    /// The count is on disk, or could not be written.
    mutating func attemptCounted(_ written: Int, _ failure: StoreError?, _ turn: inout LockTurn) {
        guard let attempt, case .counting(let needed) = attempt.stage, needed <= written else { return }
        guard let failure else {
            self.attempt?.stage = .checking
            return turn.act(.check(attempt.passphrase))
        }
        // The passphrase was not checked, so the attempt does not count.
        record.failures = record.failures.dropLast()
        endAttempt(.failure(.attemptNotCounted(failure)), &turn)
    }

    mutating func checked(_ result: Result<Bool, StoreError>, _ turn: inout LockTurn) {
        guard let attempt, attempt.stage == .checking else { return }
        switch result {
        case .success(true): passed(attempt, &turn)
        case .success(false):
            if record.lock != nil { turn.act(.publish(status(at: turn.now.wall))) }
            let pause = record.pause(at: turn.now.wall).map { $0 - turn.now.wall }
            endAttempt(.failure(pause.map(AgentError.attemptsPaused) ?? .wrongLockPassphrase), &turn)
        case .failure(let error): endAttempt(.failure(.notChecked(error)), &turn)
        }
    }

    private mutating func passed(_ attempt: Attempt, _ turn: inout LockTurn) {
        record.failures = []
        version += 1
        if let new = attempt.newPassphrase {
            if record.lock == nil {
                self.attempt?.stage = .setting
                turn.act(.setPassphrase(new))
            } else {
                // The agent was locked meanwhile.
                endAttempt(.failure(.agentLocked), &turn)
            }
        } else {
            self.attempt = nil
            endLock(for: attempt.caller, &turn)
        }
        save(&turn)
    }

    /// - Parameter caller: gets the status when the version is written.
    private mutating func endLock(for caller: CallerID, _ turn: inout LockTurn) {
        record.lock = nil
        lastUse = turn.now.boot
        waiting[caller] = version
        turn.act(.publish(status(at: turn.now.wall)))
        turn.act(.open)
    }

    // MARK: Presence

    private var presenceRefusal: AgentError? {
        if record.lock == nil { return .notLocked }
        return settings.presence ? nil : .noUnlockByPresence
    }

    func presenceRequested(_ caller: CallerID, _ turn: inout LockTurn) {
        reply(presenceRefusal.map(LockReply.failure), to: caller, &turn)
    }

    /// Failed attempts with the passphrase still count: the user who is present may not know it.
    mutating func presenceConfirmed(_ caller: CallerID, _ turn: inout LockTurn) {
        if let presenceRefusal { return turn.reply(.failure(presenceRefusal), to: caller) }
        version += 1
        endLock(for: caller, &turn)
        save(&turn)
    }

    mutating func passphraseSet(_ result: Result<Void, StoreError>, _ turn: inout LockTurn) {
        guard let attempt, attempt.stage == .setting else { return }
        switch result {
        case .success:
            hasPassphrase = true
            lastUse = turn.now.boot
            reply(to: attempt.caller, &turn)
            self.attempt = nil
        case .failure(let error): endAttempt(.failure(.passphraseNotWritten(error)), &turn)
        }
    }

    private mutating func endAttempt(_ reply: LockReply, _ turn: inout LockTurn) {
        if let attempt { turn.reply(reply, to: attempt.caller) }
        attempt = nil
    }
}
