import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Checks of the user's presence")
struct PresenceMachineTests {
    private static func moment(_ elapsed: Duration = .zero) -> Moment {
        Moment(
            boot: BootInstant(sinceBoot: .seconds(100) + elapsed),
            wall: WallTime(unixSeconds: 1_800_000_000 + elapsed.seconds))
    }

    private static func question(
        _ process: Int32 = 7, started: UInt64 = 1, executable: String? = "/usr/bin/app", _ session: String = "shop",
        _ action: PresenceAction = .release
    ) throws -> PresenceQuestion {
        let subject = PresenceSubject(
            processID: process, startTicks: started, userID: 1000, executable: executable)
        return PresenceQuestion(action, of: subject, for: try SessionName(session))
    }

    private static func causes(_ turn: PresenceMachine.PresenceTurn) -> [String?] {
        turn.replies.map { if case .failure(let error) = $0.reply { error.cause } else { nil } }
    }

    /// A request and its answer.
    private static func play(
        _ machine: inout PresenceMachine, _ question: PresenceQuestion, _ answer: PresenceAnswer, at now: Moment
    ) throws -> PresenceMachine.PresenceTurn {
        let asked = machine.handle(.asked(CallerID(99), question), at: now)
        guard case .ask(let given, let number)? = asked.actions.first else { return asked }
        #expect(given == question && asked.replies.isEmpty)
        return machine.handle(.answered(number, answer), at: now)
    }

    @Test("a request passes with the answer to its question only; each refusal says why")
    func answers() throws {
        let table: [(PresenceAnswer, String?)] = [
            (.passed, nil), (.refused, "presence_refused"), (.noAgent, "presence_no_agent"),
            (.unavailable("no reply"), "presence_unavailable"),
        ]
        for (answer, cause) in table {
            var machine = PresenceMachine(delay: .zero)
            let turn = try Self.play(&machine, try Self.question(), answer, at: Self.moment())
            #expect(Self.causes(turn) == [cause] && turn.wakeUp == nil)
            for case .failure(let error) in turn.replies.map(\.reply) { #expect(error.kind == .denied) }
            // It is asked again for the next one.
            let next = machine.handle(.asked(CallerID(2), try Self.question()), at: Self.moment())
            #expect(next.actions.count == 1 && next.replies.isEmpty)
        }
    }

    @Test("requests of one program share a check; those of others are asked one after the other")
    func order() throws {
        var machine = PresenceMachine(delay: .zero)
        let (mine, other) = (try Self.question(), try Self.question(8))
        #expect(machine.handle(.asked(CallerID(1), mine), at: Self.moment()).actions == [.ask(mine, 1)])
        #expect(machine.handle(.asked(CallerID(2), mine), at: Self.moment()).actions.isEmpty)
        #expect(machine.handle(.asked(CallerID(3), other), at: Self.moment()).actions.isEmpty)
        #expect(machine.handle(.asked(CallerID(4), other), at: Self.moment()).actions.isEmpty)
        let first = machine.handle(.answered(1, .passed), at: Self.moment())
        #expect(first.replies.map(\.caller.number) == [1, 2] && first.replies.allSatisfy { $0.reply == .passed })
        #expect(first.actions == [.ask(other, 2)])
        // Another number is of another check.
        #expect(machine.handle(.answered(1, .passed), at: Self.moment()).replies.isEmpty)
        let second = machine.handle(.answered(2, .refused), at: Self.moment())
        #expect(second.replies.map(\.caller.number) == [3, 4])
        #expect(Self.causes(second) == ["presence_refused", "presence_refused"])
    }

    @Test("three failures in five minutes pause checks for five minutes, including those that wait")
    func pause() throws {
        var machine = PresenceMachine(delay: .zero)
        let question = try Self.question()
        for minute in [0, 2] {
            let turn = try Self.play(&machine, question, .refused, at: Self.moment(.seconds(60 * minute)))
            #expect(Self.causes(turn) == ["presence_refused"])
        }
        let third = machine.handle(.asked(CallerID(1), question), at: Self.moment(.seconds(240)))
        guard case .ask(_, let number)? = third.actions.first else {
            Issue.record("not asked")
            return
        }
        _ = machine.handle(.asked(CallerID(2), try Self.question(8)), at: Self.moment(.seconds(240)))
        let paused = machine.handle(.answered(number, .refused), at: Self.moment(.seconds(240)))
        #expect(Self.causes(paused) == ["presence_paused", "presence_paused"] && paused.actions.isEmpty)
        let later = machine.handle(.asked(CallerID(3), question), at: Self.moment(.seconds(300)))
        #expect(later.actions.isEmpty && Self.causes(later) == ["presence_paused"])
        if case .failure(let error)? = later.replies.first?.reply { #expect(error.retryAfter == .seconds(240)) }
        // A request during the pause does not make it longer.
        let again = machine.handle(.asked(CallerID(4), question), at: Self.moment(.seconds(541)))
        #expect(again.actions.count == 1)
    }

    @Test("what could not be asked is not a failure, a success clears them, and old ones do not count")
    func counting() throws {
        var machine = PresenceMachine(delay: .zero)
        let question = try Self.question()
        let answers: [PresenceAnswer] = [
            .refused, .refused, .noAgent, .noAgent, .unavailable("no"), .passed, .refused, .refused,
        ]
        for answer in answers {
            let turn = try Self.play(&machine, question, answer, at: Self.moment())
            #expect(Self.causes(turn) != ["presence_paused"])
        }
        let old = try Self.play(&machine, question, .refused, at: Self.moment(.seconds(300)))
        #expect(Self.causes(old) == ["presence_refused"])
    }

    @Test("a check that nobody answers in a minute is withdrawn, refused, and counts as a failure")
    func unanswered() throws {
        var machine = PresenceMachine(delay: .zero)
        let question = try Self.question()
        for round in 0..<3 {
            let start = Duration.seconds(61 * round)
            let asked = machine.handle(.asked(CallerID(1), question), at: Self.moment(start))
            guard case .ask(_, let number)? = asked.actions.first else {
                Issue.record("not asked")
                return
            }
            #expect(asked.wakeUp == Self.moment(start + .seconds(60)).boot)
            let ended = machine.handle(.wake, at: Self.moment(start + .seconds(60)))
            #expect(ended.actions == [.withdraw(number)] && ended.wakeUp == nil)
            #expect(Self.causes(ended) == [round < 2 ? "presence_refused" : "presence_paused"])
            // An answer that comes too late does not count.
            #expect(machine.handle(.answered(number, .passed), at: Self.moment(start + .seconds(60))).replies.isEmpty)
        }
        let paused = machine.handle(.asked(CallerID(2), question), at: Self.moment(.seconds(200)))
        #expect(Self.causes(paused) == ["presence_paused"])
    }

    @Test("a check is withdrawn when its last caller has gone, and the next one is asked when the dialog has")
    func gone() throws {
        var machine = PresenceMachine(delay: .zero)
        let (mine, other) = (try Self.question(), try Self.question(8))
        for number in [1, 2] { _ = machine.handle(.asked(CallerID(UInt64(number)), mine), at: Self.moment()) }
        _ = machine.handle(.asked(CallerID(3), other), at: Self.moment())
        #expect(machine.handle(.callerGone(CallerID(1)), at: Self.moment()).actions.isEmpty)
        #expect(machine.handle(.callerGone(CallerID(2)), at: Self.moment()).actions == [.withdraw(1)])
        #expect(machine.handle(.answered(1, .withdrawn), at: Self.moment()).actions == [.ask(other, 2)])
        #expect(machine.handle(.callerGone(CallerID(3)), at: Self.moment()).actions == [.withdraw(2)])
    }

    @Test("an answer is remembered for the same process, program, session and action, until its time or the lock")
    func remembered() throws {
        var settings = PresenceSettings()
        settings.remember = .seconds(300)
        var machine = PresenceMachine(delay: .zero)
        _ = machine.handle(.configured(settings), at: Self.moment())
        _ = try Self.play(&machine, try Self.question(), .passed, at: Self.moment())
        func isAsked(_ question: PresenceQuestion, _ elapsed: Duration) throws -> Bool {
            var copy = machine
            let turn = copy.handle(.asked(CallerID(1), question), at: Self.moment(elapsed))
            #expect(turn.actions.isEmpty == !turn.replies.isEmpty)
            return !turn.actions.isEmpty
        }
        #expect(try !isAsked(try Self.question(), .seconds(299)))
        #expect(try isAsked(try Self.question(), .seconds(300)))
        let others = [
            try Self.question(8), try Self.question(started: 2), try Self.question(executable: "/usr/bin/other"),
            try Self.question(7, "work"), try Self.question(7, "shop", .trust),
        ]
        for other in others { #expect(try isAsked(other, .zero)) }
        _ = machine.handle(.locked, at: Self.moment())
        #expect(try isAsked(try Self.question(), .zero))
        // An export is asked for each time.
        let export = try Self.question(7, "shop", .export)
        _ = try Self.play(&machine, export, .passed, at: Self.moment())
        #expect(try isAsked(export, .zero))
    }

    @Test("a program that leaves at once has asked nothing")
    func delay() throws {
        var machine = PresenceMachine()
        let asked = machine.handle(.asked(CallerID(1), try Self.question()), at: Self.moment())
        #expect(asked.actions.isEmpty && asked.wakeUp == Self.moment(PresenceMachine.usualDelay).boot)
        let gone = machine.handle(.callerGone(CallerID(1)), at: Self.moment(.milliseconds(250)))
        #expect(gone.actions.isEmpty && gone.wakeUp == nil)
        // It is no refusal: the next one is asked.
        for _ in 1...3 {
            _ = machine.handle(.asked(CallerID(2), try Self.question()), at: Self.moment(.seconds(1)))
            _ = machine.handle(.callerGone(CallerID(2)), at: Self.moment(.seconds(1)))
        }
        _ = machine.handle(.asked(CallerID(3), try Self.question()), at: Self.moment(.seconds(2)))
        #expect(machine.handle(.wake, at: Self.moment(.seconds(2) + PresenceMachine.usualDelay)).actions.count == 1)
    }

    @Test("only a few questions wait")
    func crowd() throws {
        var machine = PresenceMachine(delay: .zero)
        for process in 0...PresenceMachine.mostWaiting {
            let turn = machine.handle(
                .asked(CallerID(UInt64(process)), try Self.question(Int32(process))), at: Self.moment())
            #expect(turn.replies.isEmpty)
        }
        let turn = machine.handle(.asked(CallerID(90), try Self.question(90)), at: Self.moment())
        #expect(Self.causes(turn) == ["presence_waiting"])
        guard case .failure(let error) = turn.replies.first?.reply else {
            Issue.record("\(turn.replies)")
            return
        }
        #expect(error.retryAfter == AgentError.retryWhenBusy)
    }
}
