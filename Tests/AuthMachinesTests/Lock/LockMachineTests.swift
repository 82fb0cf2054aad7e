import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("The agent's lock")
struct LockMachineTests {
    private static func moment(_ elapsed: Duration = .zero) -> Moment {
        Moment(
            boot: BootInstant(sinceBoot: .seconds(100) + elapsed),
            wall: WallTime(unixSeconds: 1_800_000_000 + elapsed.seconds))
    }

    private static let right = Secret("correct horse")
    private static let since = moment().wall

    private static func locked(failures: [WallTime] = []) -> LockRecord {
        LockRecord(lock: .init(since: since, reason: .command), failures: failures)
    }

    private static func machine(_ record: LockRecord = LockRecord(), hasPassphrase: Bool = true) -> LockMachine {
        LockMachine(record, hasPassphrase: hasPassphrase, now: moment())
    }

    /// The version and the record that are to be written.
    private static func saved(_ turn: LockMachine.LockTurn) -> (version: Int, record: LockRecord)? {
        for case .save(let record, let version) in turn.actions { return (version, record) }
        return nil
    }

    private static func error(_ turn: LockMachine.LockTurn) -> AgentError? {
        for (_, reply) in turn.replies { if case .failure(let error) = reply { return error } }
        return nil
    }

    /// An attempt to unlock with the result of the check.
    private static func attempt(
        _ machine: inout LockMachine, _ caller: UInt64, isRight: Bool, at now: Moment
    ) throws -> LockMachine.LockTurn {
        let begun = machine.handle(.unlockRequested(CallerID(caller), right), at: now)
        let version = try #require(saved(begun)).version
        let counted = machine.handle(.saved(version: version, .success(())), at: now)
        #expect(counted.actions == [.check(right)] && counted.replies.isEmpty)
        return machine.handle(.checked(.success(isRight)), at: now)
    }

    @Test("a caller learns of the lock when it is written and what was accepted before has ended, in either order")
    func locking() throws {
        for writesFirst in [true, false] {
            var machine = Self.machine()
            let turn = machine.handle(.lockRequested(CallerID(1)), at: Self.moment())
            let (version, record) = try #require(Self.saved(turn))
            #expect(record == Self.locked() && turn.replies.isEmpty)
            #expect(turn.actions.contains(.close))
            #expect(turn.actions.contains(.publish(machine.status(at: Self.since))))
            #expect(machine.status(at: Self.since).isLocked)
            let results: [LockEvent] = [.saved(version: version, .success(())), .closed]
            let ordered = writesFirst ? results : results.reversed()
            #expect(machine.handle(ordered[0], at: Self.moment()).replies.isEmpty)
            let last = machine.handle(ordered[1], at: Self.moment())
            #expect(last.replies.map(\.reply) == [.status(machine.status(at: Self.since))])
        }
    }

    @Test("a second lock changes nothing, and is answered as the first")
    func twice() throws {
        var machine = Self.machine()
        let version = try #require(Self.saved(machine.handle(.lockRequested(CallerID(1)), at: Self.moment()))).version
        let again = machine.handle(.lockRequested(CallerID(2)), at: Self.moment(.seconds(1)))
        #expect(again.actions.isEmpty && again.replies.isEmpty)
        machine.handle(.closed, at: Self.moment(.seconds(1)))
        let done = machine.handle(.saved(version: version, .success(())), at: Self.moment(.seconds(1)))
        #expect(done.replies.count == 2)
        #expect(machine.status(at: Self.since).since == Self.since.unixSeconds)
        let later = machine.handle(.lockRequested(CallerID(3)), at: Self.moment(.seconds(2)))
        #expect(later.actions.isEmpty && later.replies.count == 1)
    }

    @Test("without a passphrase it does not lock, whatever asks for it; an automatic one is logged once")
    func withoutPassphrase() {
        var machine = Self.machine(hasPassphrase: false)
        let asked = machine.handle(.lockRequested(CallerID(1)), at: Self.moment())
        #expect(Self.error(asked)?.cause == "no_passphrase" && asked.actions.isEmpty)
        let all = LockSettings(idle: .seconds(60), withLoginSessions: true, beforeSleep: true)
        #expect(machine.handle(.configured(all), at: Self.moment()).actions.count == 1)
        #expect(machine.handle(.loginSessions(areLocked: true), at: Self.moment()).actions.isEmpty)
        let sleeping = machine.handle(.sleeping(CallerID(2)), at: Self.moment())
        #expect(sleeping.replies.count == 1 && sleeping.wakeUp == nil)
        #expect(!machine.status(at: Self.since).isLocked)
    }

    @Test("a state that cannot be written locks all the same, the caller gets the error, and the next lock writes it")
    func unwritten() throws {
        var machine = Self.machine()
        let version = try #require(Self.saved(machine.handle(.lockRequested(CallerID(1)), at: Self.moment()))).version
        machine.handle(.closed, at: Self.moment())
        let failed = machine.handle(.saved(version: version, .failure(.failed(reason: "full"))), at: Self.moment())
        #expect(Self.error(failed)?.cause == "state_not_written")
        #expect(machine.status(at: Self.since).isLocked)
        let again = machine.handle(.lockRequested(CallerID(2)), at: Self.moment())
        #expect(Self.saved(again)?.version == version && again.replies.isEmpty)
        #expect(machine.handle(.saved(version: version, .success(())), at: Self.moment()).replies.count == 1)
    }

    @Test("an attempt is written as a failure before the passphrase is checked, and success clears it")
    func counting() throws {
        var machine = Self.machine(Self.locked())
        let begun = machine.handle(.unlockRequested(CallerID(1), Self.right), at: Self.moment())
        let (version, record) = try #require(Self.saved(begun))
        #expect(begun.actions.count == 1)
        #expect(record == Self.locked(failures: [Self.since]))
        #expect(
            machine.handle(.saved(version: version, .success(())), at: Self.moment()).actions == [.check(Self.right)])
        let right = machine.handle(.checked(.success(true)), at: Self.moment(.seconds(1)))
        let (unlocked, open) = try #require(Self.saved(right))
        #expect(open == LockRecord() && right.actions.contains(.open) && right.replies.isEmpty)
        let done = machine.handle(.saved(version: unlocked, .success(())), at: Self.moment(.seconds(1)))
        #expect(done.replies.map(\.reply) == [.status(LockStatus(isLocked: false, hasPassphrase: true))])
    }

    @Test("an attempt that cannot be written is not checked")
    func uncounted() throws {
        var machine = Self.machine(Self.locked())
        let begun = machine.handle(.unlockRequested(CallerID(1), Self.right), at: Self.moment())
        let version = try #require(Self.saved(begun)).version
        let failed = machine.handle(.saved(version: version, .failure(.failed(reason: "full"))), at: Self.moment())
        #expect(!failed.actions.contains(.check(Self.right)))
        #expect(Self.error(failed)?.cause == "state_not_written")
        #expect(machine.status(at: Self.since).isLocked && machine.status(at: Self.since).failedAttempts == nil)
    }

    @Test("three failures in five minutes pause attempts for five minutes; refused ones do not prolong it")
    func pause() throws {
        var machine = Self.machine(Self.locked())
        for number in 0..<3 {
            let now = Self.moment(.seconds(100 * number))
            let wrong = try Self.attempt(&machine, UInt64(number), isRight: false, at: now)
            let error = try #require(Self.error(wrong))
            #expect(error.cause == (number < 2 ? "passphrase" : "paused"))
            #expect(error.retryAfter == (number < 2 ? nil : .seconds(300)))
        }
        for elapsed in [201, 300, 499] {
            let now = Self.moment(.seconds(elapsed))
            let refused = machine.handle(.unlockRequested(CallerID(9), Self.right), at: now)
            #expect(Self.error(refused)?.cause == "paused" && refused.actions.isEmpty)
            #expect(Self.error(refused)?.retryAfter == .seconds(500 - elapsed))
            #expect(machine.status(at: now.wall).pausedUntil == Self.moment(.seconds(500)).wall.unixSeconds)
        }
        let right = try Self.attempt(&machine, 10, isRight: true, at: Self.moment(.seconds(500)))
        #expect(right.actions.contains(.open))
    }

    @Test("during a pause no passphrase is requested, but one is while the third attempt is checked")
    func asksInPause() throws {
        var machine = Self.machine(Self.locked(failures: [Self.since, Self.since]))
        func asked(_ passphrase: Secret?, at now: Moment) -> AgentError? {
            Self.error(machine.handle(.unlockRequested(CallerID(9), passphrase), at: now))
        }
        let begun = machine.handle(.unlockRequested(CallerID(1), Self.right), at: Self.moment())
        let version = try #require(Self.saved(begun)).version
        #expect(asked(nil, at: Self.moment())?.cause == "passphrase")
        machine.handle(.saved(version: version, .success(())), at: Self.moment())
        machine.handle(.checked(.success(false)), at: Self.moment())
        let refusal = try #require(asked(nil, at: Self.moment(.seconds(10))))
        #expect(refusal.cause == "paused" && refusal.retryAfter == .seconds(290))
        // Clients add when to try again.
        #expect(!refusal.message.contains("try again"))
        #expect(asked(nil, at: Self.moment(.seconds(300)))?.cause == "passphrase")

        machine = Self.machine(LockRecord(failures: [Self.since, Self.since, Self.since]))
        let change = LockEvent.passphraseRequested(CallerID(2), new: Secret("new passphrase"), current: nil)
        #expect(Self.error(machine.handle(change, at: Self.moment(.seconds(10))))?.cause == "paused")
    }

    @Test("failures that are further apart do not pause; the pause survives a restart")
    func spread() throws {
        var machine = Self.machine(Self.locked())
        for number in 0..<5 {
            let now = Self.moment(.seconds(150 * number))
            #expect(
                Self.error(try Self.attempt(&machine, UInt64(number), isRight: false, at: now))?.cause == "passphrase")
        }
        var restarted = Self.machine(Self.locked(failures: [Self.since, Self.since, Self.since]))
        let refused = restarted.handle(.unlockRequested(CallerID(1), Self.right), at: Self.moment(.seconds(10)))
        #expect(Self.error(refused)?.cause == "paused")
    }

    @Test("after the clock was set back, a pause begins again once, and ends after five minutes")
    func clockSetBack() throws {
        let ahead = Self.moment(.seconds(86_400)).wall
        // While the agent runs, and before its start.
        for isAtStart in [false, true] {
            let start = isAtStart ? Self.moment() : Self.moment(.seconds(86_400))
            var machine = LockMachine(Self.locked(failures: [ahead, ahead, ahead]), hasPassphrase: true, now: start)
            if isAtStart {
                let corrected = machine.handle(.configured(LockSettings()), at: Self.moment())
                let (version, record) = try #require(Self.saved(corrected))
                #expect(record.failures == [Self.since, Self.since, Self.since])
                machine.handle(.saved(version: version, .success(())), at: Self.moment())
            }
            for elapsed in [0, 100, 299] {
                let now = Self.moment(.seconds(elapsed))
                let refused = machine.handle(.unlockRequested(CallerID(1), Self.right), at: now)
                #expect(Self.error(refused)?.retryAfter == .seconds(300 - elapsed))
                if let (version, record) = Self.saved(refused) {
                    #expect(!isAtStart && elapsed == 0 && record.failures == [Self.since, Self.since, Self.since])
                    machine.handle(.saved(version: version, .success(())), at: now)
                }
            }
            let right = try Self.attempt(&machine, 2, isRight: true, at: Self.moment(.seconds(300)))
            #expect(right.actions.contains(.open))
        }
    }

    @Test("a state that cannot be written is written again every 30 seconds until it is on disk")
    func rewritten() throws {
        var machine = Self.machine()
        let version = try #require(Self.saved(machine.handle(.lockRequested(CallerID(1)), at: Self.moment()))).version
        machine.handle(.closed, at: Self.moment())
        for round in 0..<3 {
            let now = Self.moment(.seconds(30 * round))
            let failed = machine.handle(.saved(version: version, .failure(.failed(reason: "full"))), at: now)
            let next = Self.moment(.seconds(30 * (round + 1)))
            #expect(failed.wakeUp == next.boot)
            // The log has it once.
            #expect(failed.actions.isEmpty == (round > 0))
            let again = machine.handle(.wake, at: next)
            #expect(Self.saved(again)?.version == version && Self.saved(again)?.record == Self.locked())
            #expect(again.wakeUp == nil)
        }
        let done = machine.handle(.saved(version: version, .success(())), at: Self.moment(.seconds(90)))
        #expect(done.wakeUp == nil && done.actions.isEmpty)
    }

    @Test("one attempt at a time; none without a passphrase, while it is not locked, or without a verifier")
    func refusals() {
        var machine = Self.machine(Self.locked())
        machine.handle(.unlockRequested(CallerID(1), Self.right), at: Self.moment())
        let second = machine.handle(.unlockRequested(CallerID(2), Self.right), at: Self.moment())
        #expect(Self.error(second)?.kind == .busy && second.actions.isEmpty)
        #expect(Self.error(second)?.retryAfter == AgentError.retryWhenBusy)
        var other = Self.machine(Self.locked())
        #expect(Self.error(other.handle(.unlockRequested(CallerID(1), nil), at: Self.moment()))?.cause == "passphrase")
        var open = Self.machine()
        let notLocked = Self.error(open.handle(.unlockRequested(CallerID(1), Self.right), at: Self.moment()))
        #expect(notLocked?.kind == .conflict && notLocked?.message.contains("`authc store unlock`") == true)
        #expect(notLocked?.message.contains("store.unlock") == false)
        var lost = Self.machine(Self.locked(), hasPassphrase: false)
        let unknown = Self.error(lost.handle(.unlockRequested(CallerID(1), Self.right), at: Self.moment()))
        #expect(unknown?.cause == "no_passphrase" && unknown?.message.contains("lock-passphrase") == true)
    }

    @Test("the first passphrase is set as it is; another one needs the present one, which counts as an attempt")
    func passphrase() throws {
        let new = Secret("another horse")
        var machine = Self.machine(hasPassphrase: false)
        let short = machine.handle(
            .passphraseRequested(CallerID(1), new: Secret("short"), current: nil), at: Self.moment())
        #expect(Self.error(short)?.cause == "new_passphrase")
        let first = machine.handle(.passphraseRequested(CallerID(1), new: new, current: nil), at: Self.moment())
        #expect(first.actions == [.setPassphrase(new)])
        #expect(machine.handle(.passphraseSet(.success(())), at: Self.moment()).replies.count == 1)

        let missing = machine.handle(.passphraseRequested(CallerID(2), new: new, current: nil), at: Self.moment())
        #expect(Self.error(missing)?.cause == "passphrase")
        for isRight in [false, true] {
            let begun = machine.handle(
                .passphraseRequested(CallerID(3), new: new, current: Self.right), at: Self.moment())
            let version = try #require(Self.saved(begun)).version
            machine.handle(.saved(version: version, .success(())), at: Self.moment())
            let checked = machine.handle(.checked(.success(isRight)), at: Self.moment())
            #expect(checked.actions.contains(.setPassphrase(new)) == isRight)
            #expect(Self.error(checked)?.kind == (isRight ? nil : .refused))
        }
    }

    @Test("a lock during a change of the passphrase ends the change")
    func lockedDuringChange() throws {
        var machine = Self.machine()
        let begun = machine.handle(
            .passphraseRequested(CallerID(1), new: Secret("another horse"), current: Self.right), at: Self.moment())
        let version = try #require(Self.saved(begun)).version
        machine.handle(.saved(version: version, .success(())), at: Self.moment())
        machine.handle(.lockRequested(CallerID(2)), at: Self.moment())
        let checked = machine.handle(.checked(.success(true)), at: Self.moment())
        #expect(Self.error(checked) == .agentLocked)
        #expect(!checked.actions.contains(.setPassphrase(Secret("another horse"))))
    }

    @Test("it locks after the idle time since the last use, and not before")
    func idle() {
        var machine = Self.machine()
        let configured = machine.handle(.configured(LockSettings(idle: .seconds(600))), at: Self.moment())
        #expect(configured.wakeUp == Self.moment(.seconds(600)).boot)
        let wake = Self.moment(.seconds(600))
        #expect(machine.handle(.wake, at: wake).actions == [.readLastUse])
        let used = machine.handle(.idleTick(lastUse: Self.moment(.seconds(400)).boot), at: wake)
        #expect(used.actions.isEmpty && used.wakeUp == Self.moment(.seconds(1000)).boot)
        let end = Self.moment(.seconds(1000))
        #expect(machine.handle(.wake, at: end).actions == [.readLastUse])
        let idle = machine.handle(.idleTick(lastUse: Self.moment(.seconds(400)).boot), at: end)
        #expect(Self.saved(idle)?.record.lock?.reason == .idle && idle.wakeUp == nil)
    }

    @Test("it locks when all login sessions become locked, and before sleep, if the settings say so")
    func triggers() throws {
        var machine = Self.machine()
        #expect(machine.handle(.loginSessions(areLocked: true), at: Self.moment()).actions.isEmpty)
        #expect(machine.handle(.sleeping(CallerID(1)), at: Self.moment()).replies.count == 1)
        // They are locked already.
        let on = machine.handle(.configured(LockSettings(withLoginSessions: true)), at: Self.moment())
        #expect(Self.saved(on)?.record.lock?.reason == .loginSessions)

        var other = Self.machine()
        other.handle(.configured(LockSettings(beforeSleep: true)), at: Self.moment())
        let sleeping = other.handle(.sleeping(CallerID(1)), at: Self.moment())
        let (version, record) = try #require(Self.saved(sleeping))
        #expect(record.lock?.reason == .sleep && sleeping.replies.isEmpty)
        other.handle(.saved(version: version, .success(())), at: Self.moment())
        // The machine sleeps when that is done.
        #expect(other.handle(.closed, at: Self.moment()).replies.count == 1)
    }

    @Test("an unlock by the user lasts while the login sessions stay locked")
    func staysUnlocked() throws {
        var machine = Self.machine()
        machine.handle(.configured(LockSettings(withLoginSessions: true)), at: Self.moment())
        let locked = machine.handle(.loginSessions(areLocked: true), at: Self.moment())
        machine.handle(.saved(version: try #require(Self.saved(locked)).version, .success(())), at: Self.moment())
        _ = try Self.attempt(&machine, 1, isRight: true, at: Self.moment())
        #expect(machine.handle(.loginSessions(areLocked: true), at: Self.moment()).actions.isEmpty)
        #expect(!machine.status(at: Self.since).isLocked)
    }
}
