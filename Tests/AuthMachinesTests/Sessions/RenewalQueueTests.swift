import AuthMachines
import AuthModel
import Testing

@Suite("The renewals of a provider")
struct RenewalQueueTests {
    private let start = BootInstant(sinceBoot: .seconds(100))
    private let here = RenewalQueue.Provider(name: "example", environment: "local")

    /// A queue whose replies are recorded with the moment of each.
    private struct ScriptedRun {
        var queue = RenewalQueue()
        var replies: [(caller: UInt64, reply: RenewalQueue.Reply, at: BootInstant)] = []
        var wake: BootInstant?

        mutating func handle(_ event: RenewalQueue.Event, at now: BootInstant) {
            let turn = queue.handle(event, at: Moment(boot: now, wall: WallTime(unixSeconds: 0)))
            for (caller, reply) in turn.replies { replies.append((caller.number, reply, now)) }
            wake = turn.wakeUp
        }

        mutating func enter(
            _ number: UInt64, _ provider: RenewalQueue.Provider, urgency: BootInstant, at now: BootInstant
        ) {
            handle(.entered(CallerID(number), provider, urgency: urgency), at: now)
        }
    }

    @Test("of two hundred at once ten begin in any second, the most urgent first")
    func spread() {
        var run = ScriptedRun()
        for number in (0..<200).map({ ($0 * 37) % 200 }) {
            run.enter(UInt64(number), here, urgency: start + .seconds(number), at: start)
        }
        while let wake = run.wake { run.handle(.wake, at: wake) }
        #expect(run.replies.map(\.caller) == Array(0..<200))
        #expect(run.replies.allSatisfy { $0.reply == .begin })
        let times = run.replies.map(\.at)
        for (first, eleventh) in zip(times, times.dropFirst(10)) { #expect(eleventh - first >= .seconds(1)) }
        #expect((times.last ?? start) - start < .seconds(20))
    }

    @Test("a single one begins at once, and leaves no deadline")
    func alone() {
        var run = ScriptedRun()
        run.enter(1, here, urgency: start, at: start)
        #expect(run.replies.map(\.reply) == [.begin])
        #expect(run.wake == nil)
    }

    @Test(
        "while the provider asks clients to wait none begins, and those that wait are notified; other providers go on")
    func held() {
        var run = ScriptedRun()
        for number in 1...3 { run.enter(UInt64(number), here, urgency: start, at: start) }
        run.handle(.held(here, for: .seconds(120)), at: start)
        #expect(run.replies.map(\.reply) == [.begin, .held(.seconds(120)), .held(.seconds(120))])
        #expect(run.wake == nil)
        run.enter(4, here, urgency: start, at: start + .seconds(20))
        #expect(run.replies.last?.reply == .held(.seconds(100)))
        let elsewhere = RenewalQueue.Provider(name: "example", environment: "production")
        run.enter(5, elsewhere, urgency: start, at: start + .seconds(20))
        #expect(run.replies.last?.reply == .begin)
        run.enter(6, here, urgency: start, at: start + .seconds(120))
        #expect(run.replies.last?.reply == .begin)
    }

    @Test("a shorter wait does not end a longer one")
    func longerHold() {
        var run = ScriptedRun()
        run.handle(.held(here, for: .seconds(120)), at: start)
        run.handle(.held(here, for: .seconds(1)), at: start)
        run.enter(1, here, urgency: start, at: start + .seconds(20))
        #expect(run.replies.map(\.reply) == [.held(.seconds(100))])
    }

    @Test("a provider that asks for a day gets an hour")
    func holdIsBounded() {
        var run = ScriptedRun()
        run.handle(.held(here, for: .seconds(86_400)), at: start)
        run.enter(1, here, urgency: start, at: start)
        #expect(run.replies.map(\.reply) == [.held(Backoff.longestHold)])
    }

    @Test("a caller that goes leaves its place to the next")
    func gone() {
        var run = ScriptedRun()
        for number in 1...3 { run.enter(UInt64(number), here, urgency: start, at: start) }
        run.handle(.callerGone(CallerID(2)), at: start)
        #expect(run.wake == start + RenewalQueue.spacing)
        run.handle(.wake, at: start + RenewalQueue.spacing)
        #expect(run.replies.map(\.caller) == [1, 3])
    }
}
