import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Testing

/// What each machine may rely on, and each caller.
@Suite("The runner", .timeLimit(.minutes(1)))
struct RunnerTests {
    private let clock = ManualClock()
    private let notes = RecordedNotes()
    private let hold = Hold()

    private func withRunner(_ body: (Runner<Toy>) async throws -> Void) async throws {
        let tasks = AgentTasks(clock: clock)
        let runner = Runner(Toy(), performer: ToyPerformer(notes: notes, hold: hold), tasks: tasks)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await tasks.run() }
            try await body(runner)
            hold.release()
            group.cancelAll()
        }
    }

    /// Returns when a caller waits.
    private func somebodyAsks(_ runner: Runner<Toy>, count: Int = 1) async {
        while await runner.read({ $0.waiting.count }) < count { await Task.yield() }
    }

    // MARK: Callers

    @Test("gives each caller its own reply, after all actions of the event")
    func replies() async throws {
        try await withRunner { runner in
            let one = Task { await result(of: runner) }
            await somebodyAsks(runner)
            let two = Task { await result(of: runner) }
            await somebodyAsks(runner, count: 2)
            await runner.send(.answerAll("yes"))
            #expect(await one.value == .success("yes 1"))
            #expect(await two.value == .success("yes 2"))
            #expect(notes.all == ["answering"])
        }
    }

    @Test("ends the wait of a cancelled caller, notifies the machine, and drops a later reply")
    func cancelled() async throws {
        try await withRunner { runner in
            let task = Task { await result(of: runner) }
            await somebodyAsks(runner)
            task.cancel()
            #expect(await task.value == .failure(.cancelled))
            #expect(await runner.read { $0.waiting.isEmpty && $0.gone == [CallerID(1)] })
            await runner.send(.answer(CallerID(1), "late"))
        }
    }

    @Test("ends the wait of a caller that was cancelled before it asked")
    func cancelledBefore() async throws {
        try await withRunner { runner in
            let end = await Task {
                withUnsafeCurrentTask { if let task = $0 { task.cancel() } }
                return await result(of: runner)
            }.value
            #expect(end == .failure(.cancelled))
            #expect(await runner.read { $0.gone == [CallerID(1)] })
        }
    }

    @Test("gives a reply that comes at once to a caller that is cancelled by then")
    func cancelledAfter() async throws {
        try await withRunner { runner in
            let end = await Task { () -> Result<String, WaitEnd> in
                withUnsafeCurrentTask { if let task = $0 { task.cancel() } }
                do throws(WaitEnd) { return .success(try await runner.ask { .echo($0) }) } catch {
                    return .failure(error)
                }
            }.value
            #expect(end == .success("at once"))
        }
    }

    @Test(
        "leaves the reply to the machine if a caller that waits to the end is cancelled, and ends that wait when it is closed"
    )
    func cancelledToTheEnd() async throws {
        try await withRunner { runner in
            let one = Task { await result(of: runner, toEnd: true) }
            await somebodyAsks(runner)
            one.cancel()
            #expect(await one.value == .success("gone 1"))
            let two = Task { await result(of: runner, toEnd: true) }
            await somebodyAsks(runner)
            await runner.close()
            two.cancel()
            #expect(await two.value == .failure(.stopping))
        }
    }

    @Test("ends all waits when it is closed, now and later, and handles nothing any more")
    func closed() async throws {
        try await withRunner { runner in
            let task = Task { await result(of: runner) }
            await somebodyAsks(runner)
            await runner.close()
            #expect(await task.value == .failure(.stopping))
            #expect(await result(of: runner) == .failure(.stopping))
            #expect(await runner.send(.note("late")) == false)
            await runner.close()
            #expect(notes.all.isEmpty)
        }
    }

    // MARK: Events

    @Test("handles an event that an action causes after all actions of the previous event")
    func nested() async throws {
        try await withRunner { runner in
            await runner.send(.nested)
            #expect(notes.all == ["first", "second", "inner"])
        }
    }

    @Test("stops between two actions if one of them closes it")
    func closedByAction() async throws {
        try await withRunner { runner in
            let task = Task { await result(of: runner) }
            await somebodyAsks(runner)
            await runner.send(.closeAndAnswer)
            #expect(await task.value == .failure(.stopping))
        }
    }

    @Test("drops an update that is not newer than the last from the same source")
    func versions() async throws {
        try await withRunner { runner in
            await runner.send(.note("two"), version: 2, from: .network)
            await runner.send(.note("one"), version: 1, from: .network)
            await runner.send(.note("two again"), version: 2, from: .network)
            await runner.send(.note("one of another source"), version: 1, from: .sessions)
            await runner.send(.note("three"), version: 3, from: .network)
            #expect(notes.all == ["two", "one of another source", "three"])
        }
    }

    // MARK: Deadlines

    @Test("wakes the machine at the deadline it has set last, and never at one that was taken away")
    func alarm() async throws {
        try await withRunner { runner in
            let start = clock.now().boot
            await runner.send(.wakeAt(start + .seconds(10)))
            await runner.send(.wakeAt(start + .seconds(20)))
            await clock.somebodySleeps(until: start + .seconds(20))
            clock.advance(.seconds(10))
            await runner.send(.wakeAt(start + .seconds(15)))
            await clock.somebodySleeps(until: start + .seconds(15))
            #expect(notes.all.isEmpty)
            clock.advance(.seconds(5))
            while notes.all.isEmpty { await Task.yield() }
            #expect(notes.all == ["awake"])
        }
    }

    @Test("keeps no deadline when it is closed")
    func alarmAfterEnd() async throws {
        let tasks = AgentTasks(clock: clock)
        let deadline = clock.now().boot + .seconds(10)
        for closing in [Toy.Event.closeAndAnswer, nil] {
            let runner = Runner(Toy(), performer: ToyPerformer(notes: notes, hold: hold), tasks: tasks)
            await runner.send(.wakeAt(deadline))
            #expect(tasks.alarms.next == deadline)
            if let closing { await runner.send(closing) } else { await runner.close() }
            #expect(tasks.alarms.next == nil)
            await runner.send(.wakeAt(deadline + .seconds(10)))
            #expect(tasks.alarms.next == nil)
        }
    }

    // MARK: Work

    @Test("handles the result of work, and drops it if it is closed by then")
    func work() async throws {
        try await withRunner { runner in
            await runner.send(.work)
            await hold.isReached()
            #expect(notes.all == ["begun"])
            hold.release()
            while notes.all.count < 2 { await Task.yield() }
            #expect(notes.all == ["begun", "ended"])
        }
    }

    @Test("drops the event of work that ends after it was closed")
    func lateResult() async throws {
        try await withRunner { runner in
            await runner.send(.work)
            await hold.isReached()
            await runner.close()
        }
        #expect(notes.all == ["begun"])
    }

    @Test("ends its waits if the agent takes no more work")
    func refused() async throws {
        let tasks = AgentTasks(clock: clock)
        let runner = Runner(Toy(), performer: ToyPerformer(notes: notes, hold: hold), tasks: tasks)
        await Task {
            withUnsafeCurrentTask { if let task = $0 { task.cancel() } }
            await tasks.run()
        }.value
        let task = Task { await result(of: runner) }
        await somebodyAsks(runner)
        await runner.send(.work)
        #expect(await task.value == .failure(.stopping))
        #expect(notes.all.isEmpty)
    }

    @Test("reports work that is submitted to a closed runner, and does none of it")
    func submittedLate() async throws {
        try await withRunner { runner in
            let note: @Sendable () async -> Toy.Event? = { [notes] in
                notes.add("begun")
                return nil
            }
            #expect(await runner.start(note))
            #expect(await runner.startToEnd(note))
            while notes.all.count < 2 { await Task.yield() }
            #expect(await runner.send(.note("one"), version: 2, from: .network))
            #expect(await runner.send(.note("an older one"), version: 1, from: .network))
            await runner.close()
            #expect(await !runner.start(note))
            #expect(await !runner.startToEnd(note))
            #expect(await !runner.send(.note("two")))
            #expect(await !runner.send(.note("two"), version: 3, from: .network))
            #expect(await !runner.send(.note("an older one"), version: 1, from: .network))
        }
        #expect(notes.all == ["begun", "begun", "one"])
    }

    @Test("reports work that the agent no longer accepts")
    func notAccepted() async throws {
        let tasks = AgentTasks(clock: clock)
        let runner = Runner(Toy(), performer: ToyPerformer(notes: notes, hold: hold), tasks: tasks)
        await Task {
            withUnsafeCurrentTask { if let task = $0 { task.cancel() } }
            await tasks.run()
        }.value
        #expect(await !runner.start { nil })
        #expect(await !runner.send(.note("one")))
    }

    @Test("does work to its end, uncancelled, while the agent stops, if that was requested")
    func toTheEnd() async throws {
        let tasks = AgentTasks(clock: clock)
        let runner = Runner(Toy(), performer: ToyPerformer(notes: notes, hold: hold), tasks: tasks)
        let run = Task { await tasks.run() }
        await runner.send(.workToEnd)
        await hold.isReached()
        run.cancel()
        hold.release()
        await run.value
        #expect(notes.all == ["begun", "not cancelled"])
    }

    @Test("goes on with work and deadlines while the agent does its last work, uncancelled, and ends them afterwards")
    func lastWork() async throws {
        let tasks = AgentTasks(clock: clock)
        let runner = Runner(Toy(), performer: ToyPerformer(notes: notes, hold: hold), tasks: tasks)
        let run = Task {
            await tasks.run(
                services: [{ await Hold().pass() }],
                last: {
                    await runner.send(.work)
                    await hold.isReached()
                    hold.release()
                    while notes.all.count < 2 { await Task.yield() }
                    notes.add(Task.isCancelled ? "cancelled" : "not cancelled")
                })
        }
        run.cancel()
        await run.value
        #expect(notes.all == ["begun", "ended", "not cancelled"])
    }

    private func result(of runner: Runner<Toy>, toEnd: Bool = false) async -> Result<String, WaitEnd> {
        do throws(WaitEnd) {
            return .success(try await toEnd ? runner.askToEnd { .asked($0) } : runner.ask { .asked($0) })
        } catch {
            return .failure(error)
        }
    }
}

/// A machine whose events say what it decides.
private struct Toy: Machine {
    enum Event {
        case asked(CallerID), echo(CallerID), gone(CallerID)
        case answer(CallerID, String), answerAll(String)
        case note(String), nested, closeAndAnswer
        case wakeAt(BootInstant?), wake
        case work, workToEnd
    }

    enum Action {
        case note(String), event(String), close, work, workToEnd
    }

    var waiting: [CallerID] = []
    var gone: [CallerID] = []
    private var deadline: BootInstant?

    static let wake = Event.wake
    static func callerGone(_ caller: CallerID) -> Event { .gone(caller) }

    mutating func handle(_ event: Event, in turn: inout Turn<Action, String>) {
        switch event {
        case .asked(let caller): waiting.append(caller)
        case .echo(let caller): turn.reply("at once", to: caller)
        case .gone(let caller):
            waiting.removeAll { $0 == caller }
            gone.append(caller)
            turn.reply("gone \(caller.number)", to: caller)
        case .answer(let caller, let text): turn.reply(text, to: caller)
        case .answerAll(let text):
            for caller in waiting { turn.reply("\(text) \(caller.number)", to: caller) }
            waiting = []
            turn.act(.note("answering"))
        case .note(let text): turn.act(.note(text))
        case .nested:
            turn.act(.note("first"))
            turn.act(.event("inner"))
            turn.act(.note("second"))
        case .closeAndAnswer:
            turn.act(.close)
            for caller in waiting { turn.reply("too late", to: caller) }
        case .wakeAt(let instant): deadline = instant
        case .wake:
            deadline = nil
            turn.act(.note("awake"))
        case .work: turn.act(.work)
        case .workToEnd: turn.act(.workToEnd)
        }
        turn.wakeUp = deadline
    }
}

private struct ToyPerformer: ActionPerformer {
    let notes: RecordedNotes
    let hold: Hold

    func perform(_ action: Toy.Action, on runner: isolated Runner<Toy>) {
        switch action {
        case .note(let text): notes.add(text)
        case .event(let text): runner.send(.note(text))
        case .close: runner.close()
        case .work:
            runner.start {
                notes.add("begun")
                await hold.pass()
                return .note("ended")
            }
        case .workToEnd:
            runner.startToEnd {
                notes.add("begun")
                await hold.pass()
                notes.add(Task.isCancelled ? "cancelled" : "not cancelled")
                return nil
            }
        }
    }
}
