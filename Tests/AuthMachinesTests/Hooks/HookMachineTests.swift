import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Hooks")
struct HookMachineTests {
    private static func moment(_ elapsed: Duration = .zero) -> Moment {
        Moment(
            boot: BootInstant(sinceBoot: .seconds(100) + elapsed),
            wall: WallTime(unixSeconds: 1_800_000_000 + elapsed.seconds))
    }

    private static func run(_ number: Int) -> HookRun {
        HookRun(Hook(on: .renewed, command: ["/bin/true", "\(number)"]), input: [])
    }

    private static func event(_ name: String, _ state: SessionState, topic: Topic = .session) throws -> AgentEvent {
        let session = try SessionName("work")
        return AgentEvent(
            topic: topic, name: name, at: 1, session: session,
            status: SessionStatus(session: session, provider: "shop", state: state))
    }

    @Test("one command runs at a time, in the order of the events")
    func order() {
        var machine = HookMachine()
        #expect(machine.handle(.requested(Self.run(1)), at: Self.moment()).actions == [.start(Self.run(1))])
        #expect(machine.handle(.requested(Self.run(2)), at: Self.moment()).actions == [])
        #expect(machine.handle(.requested(Self.run(3)), at: Self.moment()).actions == [])
        let second = machine.handle(.finished(.exited(1)), at: Self.moment())
        #expect(second.actions == [.report(Self.run(1), .ended(.exited(1))), .start(Self.run(2))])
        let third = machine.handle(.finished(.notStarted("x")), at: Self.moment())
        #expect(third.actions == [.report(Self.run(2), .ended(.notStarted("x"))), .start(Self.run(3))])
        let last = machine.handle(.finished(.exited(0)), at: Self.moment())
        #expect(last.actions == [.report(Self.run(3), .ended(.exited(0)))] && last.wakeUp == nil)
    }

    @Test("a command is killed once after its time, and the next one starts when it has ended")
    func late() {
        var machine = HookMachine()
        let first = machine.handle(.requested(Self.run(1)), at: Self.moment())
        #expect(first.wakeUp == Self.moment(HookMachine.maxTime).boot)
        #expect(machine.handle(.requested(Self.run(2)), at: Self.moment(.seconds(9))).actions == [])
        let late = machine.handle(.wake, at: Self.moment(.seconds(10)))
        #expect(late.actions == [.stop] && late.wakeUp == nil)
        #expect(machine.handle(.wake, at: Self.moment(.seconds(11))).actions == [])
        let next = machine.handle(.finished(.killed(signal: 9)), at: Self.moment(.seconds(12)))
        #expect(next.actions == [.report(Self.run(1), .timedOut), .start(Self.run(2))])
        #expect(next.wakeUp == Self.moment(.seconds(22)).boot)
    }

    @Test("too many are dropped and counted")
    func dropped() {
        var machine = HookMachine()
        for number in 0...HookMachine.maxWaiting + 3 {
            machine.handle(.requested(Self.run(number)), at: Self.moment())
        }
        let first = machine.handle(.finished(.exited(0)), at: Self.moment()).actions
        #expect(first.dropFirst() == [.reportDropped(3), .start(Self.run(1))])
        var last = first
        for _ in 1..<HookMachine.maxWaiting { last = machine.handle(.finished(.exited(0)), at: Self.moment()).actions }
        #expect(last.last == .start(Self.run(HookMachine.maxWaiting)))
        #expect(machine.handle(.finished(.exited(0)), at: Self.moment()).actions.count == 1)
    }

    @Test("at the agent's end the running command is killed, and nothing is started")
    func ended() {
        var machine = HookMachine()
        for number in 1...2 { machine.handle(.requested(Self.run(number)), at: Self.moment()) }
        #expect(machine.handle(.ended, at: Self.moment()).actions == [.stop])
        let last = machine.handle(.finished(.killed(signal: 9)), at: Self.moment()).actions
        #expect(last == [.report(Self.run(1), .ended(.killed(signal: 9)))])
        #expect(machine.handle(.requested(Self.run(3)), at: Self.moment()).actions == [])
    }

    @Test("an event has a name if it has hooks, and gets the commands for that name in order")
    func names() throws {
        let cases: [(AgentEvent, Hook.Event?)] = [
            (try Self.event("added", .active), .added), (try Self.event("renewed", .active), .renewed),
            (try Self.event("ending", .active), .ending), (try Self.event("signed_out", .signedOut), .signedOut),
            (try Self.event("state", .active), .active), (try Self.event("state", .signInRequired), .signInRequired),
            (try Self.event("added", .signingIn), nil), (try Self.event("added", .keyringLocked), nil),
            (try Self.event("state", .stale), nil), (try Self.event("changed", .active), nil),
            (try Self.event("shown", .active, topic: .notice), nil),
        ]
        for (event, name) in cases { #expect(Hook.Event(event) == name, "\(event.name)") }
        let hooks = [
            Hook(on: .renewed, command: ["/a"]), Hook(on: .added, command: ["/b"]),
            Hook(on: .renewed, command: ["/c", "d"]),
        ]
        let runs = HookRun.all(for: try Self.event("renewed", .active), of: hooks)
        #expect(runs.map(\.hook) == [hooks[0], hooks[2]])
        let input = try JSON(parsing: runs[0].input)
        #expect(input["event"] == "renewed" && input["session"] == "work" && input["topic"] == "session")
    }
}
