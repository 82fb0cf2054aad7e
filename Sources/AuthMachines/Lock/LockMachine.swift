package import AuthModel
package import AuthWire

/// Decides when the agent is locked, and who may unlock it.
///
/// Invariants:
/// 1. A caller learns that the agent is locked when the record is written and what was accepted before has ended.
/// 2. A passphrase is checked only after its attempt was written as a failure.
/// 3. One attempt at a time; none during a pause.
/// 4. Without a passphrase the agent does not become locked.
package struct LockMachine: Machine {
    package typealias LockTurn = Turn<LockAction, LockReply>

    /// A disk that was full, or that failed, does not notify us when it works again.
    package static let retryInterval = Duration.seconds(30)

    var record: LockRecord
    var hasPassphrase: Bool
    var settings = LockSettings()
    private var areSessionsLocked = false
    var lastUse: BootInstant
    /// The version of the record, and of the one that is on disk.
    var (version, written) = (0, 0)
    /// The version that is being written; `nil`: none.
    private var saving: Int?
    private var isClosing = false
    var attempt: Attempt?
    /// Callers that get the status when this version is written and nothing is being ended.
    var waiting: [CallerID: Int] = [:]
    /// When a state that could not be written is written again.
    private var retryAt: BootInstant?
    /// The last write has failed, which was logged.
    private var hasFailed = false
    private var hasLoggedMissingPassphrase = false

    package init(_ record: LockRecord, hasPassphrase: Bool, now: Moment) {
        (self.record, self.hasPassphrase) = (record, hasPassphrase)
        lastUse = now.boot
        if self.record.correctDates(at: now.wall) { version += 1 }
    }

    package static let wake = LockEvent.wake
    package static func callerGone(_ caller: CallerID) -> LockEvent { .callerGone(caller) }

    package func status(at now: WallTime) -> LockStatus {
        let failures = record.recentFailures(at: now)
        return LockStatus(
            isLocked: record.lock != nil, since: record.lock?.since.unixSeconds, reason: record.lock?.reason.rawValue,
            failedAttempts: failures > 0 ? failures : nil, pausedUntil: record.pause(at: now)?.unixSeconds,
            hasPassphrase: hasPassphrase)
    }

    package mutating func handle(_ event: LockEvent, in turn: inout LockTurn) {
        switch event {
        case .configured(let new): configure(new, &turn)
        case .lockRequested(let caller): lock(.command, for: caller, &turn)
        case .sleeping(let caller):
            guard settings.beforeSleep else { return reply(to: caller, &turn) }
            lock(.sleep, for: caller, &turn)
        case .loginSessions(let areLocked):
            let isNew = areLocked && !areSessionsLocked
            areSessionsLocked = areLocked
            if isNew, settings.withLoginSessions { lock(.loginSessions, for: nil, &turn) }
        case .idleTick(let use):
            lastUse = max(lastUse, use)
            if let idleEnd, idleEnd <= turn.now.boot { lock(.idle, for: nil, &turn) }
        case .unlockRequested(let caller, let passphrase): unlock(caller, passphrase, &turn)
        case .passphraseRequested(let caller, let new, let current): setPassphrase(caller, new, current, &turn)
        case .presenceRequested(let caller): presenceRequested(caller, &turn)
        case .presenceConfirmed(let caller): presenceConfirmed(caller, &turn)
        case .callerGone(let caller): waiting[caller] = nil
        case .saved(let version, let result): saved(version, result, &turn)
        case .checked(let result): checked(result, &turn)
        case .passphraseSet(let result): passphraseSet(result, &turn)
        case .closed:
            isClosing = false
            answerWaiting(&turn)
        case .wake:
            if let retryAt, retryAt <= turn.now.boot { save(&turn) }
            if idleEnd != nil { turn.act(.readLastUse) }
        }
        turn.wakeUp = [idleEnd, retryAt].compactMap(\.self).min()
    }

    private var idleEnd: BootInstant? {
        guard record.lock == nil, hasPassphrase, let idle = settings.idle else { return nil }
        return lastUse + idle
    }

    private mutating func configure(_ new: LockSettings, _ turn: inout LockTurn) {
        let former = settings
        settings = new
        // What was corrected at the start.
        save(&turn)
        // Idle time from before the setting does not count.
        if former.idle != new.idle { lastUse = turn.now.boot }
        if new.withLoginSessions, !former.withLoginSessions, areSessionsLocked {
            lock(.loginSessions, for: nil, &turn)
        }
        guard new.locksByItself, new != former, !hasPassphrase else { return }
        logMissingPassphrase(&turn)
    }

    private mutating func logMissingPassphrase(_ turn: inout LockTurn) {
        guard !hasLoggedMissingPassphrase else { return }
        hasLoggedMissingPassphrase = true
        turn.act(.log("[lock] in the settings has no effect yet. \(AgentError.noLockPassphrase.message)"))
    }

    // MARK: Locking

    private mutating func lock(_ reason: LockRecord.Reason, for caller: CallerID?, _ turn: inout LockTurn) {
        if record.lock == nil {
            guard hasPassphrase else {
                guard reason != .command else { return reply(.failure(.noLockPassphrase), to: caller, &turn) }
                logMissingPassphrase(&turn)
                return reply(to: caller, &turn)
            }
            record.lock = LockRecord.Lock(since: turn.now.wall, reason: reason)
            version += 1
            isClosing = true
            turn.act(.publish(status(at: turn.now.wall)))
            turn.act(.close)
        }
        if let caller { waiting[caller] = version }
        // This also repeats a write that failed before.
        save(&turn)
        answerWaiting(&turn)
    }

    func reply(_ reply: LockReply? = nil, to caller: CallerID?, _ turn: inout LockTurn) {
        guard let caller else { return }
        turn.reply(reply ?? .status(status(at: turn.now.wall)), to: caller)
    }

    // MARK: The file

    mutating func save(_ turn: inout LockTurn) {
        guard saving == nil, written < version else { return }
        (saving, retryAt) = (version, nil)
        turn.act(.save(record, version: version))
    }

    private mutating func saved(_ version: Int, _ result: Result<Void, StoreError>, _ turn: inout LockTurn) {
        saving = nil
        var failure: StoreError?
        switch result {
        case .success: (written, hasFailed) = (version, false)
        case .failure(let error): failure = error
        }
        attemptCounted(version, failure, &turn)
        if let failure, record.lock != nil {
            if !hasFailed { turn.act(.log(AgentError.lockNotWritten(failure).message)) }
            hasFailed = true
            retryAt = turn.now.boot + Self.retryInterval
            for (caller, needed) in waiting where needed <= version {
                waiting[caller] = nil
                turn.reply(.failure(.lockNotWritten(failure)), to: caller)
            }
        } else if failure != nil {
            // On disk the agent stays locked, which is safe. The caller is answered from memory.
            written = version
        }
        answerWaiting(&turn)
        if version < self.version { save(&turn) }
    }

    private mutating func answerWaiting(_ turn: inout LockTurn) {
        guard !isClosing else { return }
        for (caller, needed) in waiting where needed <= written {
            waiting[caller] = nil
            reply(to: caller, &turn)
        }
    }
}
