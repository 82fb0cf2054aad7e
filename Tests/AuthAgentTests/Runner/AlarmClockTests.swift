import AgentTestSupport
import AuthAgent
import AuthModel
import Synchronization
import Testing

@Suite("The alarm clock", .timeLimit(.minutes(1)))
struct AlarmClockTests {
    /// The names of the owners that rang, in order.
    private final class Owner: AlarmOwner {
        private let name: String
        private let rung: AsyncStream<String>.Continuation

        init(_ name: String, _ rung: AsyncStream<String>.Continuation) {
            self.name = name
            self.rung = rung
        }

        func ring() { rung.yield(name) }
    }

    private let clock = CountingClock()
    private let rung: AsyncStream<String>
    private let one: Owner
    private let two: Owner

    init() {
        let (rung, ring) = AsyncStream.makeStream(of: String.self)
        self.rung = rung
        one = Owner("one", ring)
        two = Owner("two", ring)
    }

    @Test("rings one deadline after the other, and sleeps in between")
    func inTurn() async {
        let alarms = AlarmClock(clock: clock)
        let start = clock.now().boot
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await alarms.run() }
            var rings = rung.makeAsyncIterator()
            for round in 1...20 {
                let deadline = start + .seconds(round)
                alarms.set(deadline, for: round.isMultiple(of: 2) ? one : two)
                await clock.manual.somebodySleeps(until: deadline)
                clock.manual.advance(.seconds(1))
                #expect(await rings.next() == (round.isMultiple(of: 2) ? "one" : "two"))
            }
            // Two looks a deadline: one that sets it earlier, one when it has come.
            #expect(clock.looks <= 2 * 20 + 2)
            group.cancelAll()
        }
    }

    @Test("wakes for an earlier deadline, and not for a later one or one that is removed")
    func sooner() async {
        let alarms = AlarmClock(clock: clock)
        let start = clock.now().boot
        await withTaskGroup(of: Void.self) { group in
            alarms.set(start + .seconds(100), for: one)
            group.addTask { await alarms.run() }
            await clock.manual.somebodySleeps(until: start + .seconds(100))
            alarms.set(start + .seconds(200), for: two)
            alarms.set(nil, for: two)
            #expect(clock.looks == 1)
            alarms.set(start + .seconds(5), for: two)
            await clock.manual.somebodySleeps(until: start + .seconds(5))
            clock.manual.advance(.seconds(5))
            var rings = rung.makeAsyncIterator()
            #expect(await rings.next() == "two")
            #expect(alarms.next == start + .seconds(100))
            group.cancelAll()
        }
    }

    @Test("does not keep an owner alive, and a released owner does not ring")
    func goneOwner() async {
        let alarms = AlarmClock(clock: clock)
        let start = clock.now().boot
        let (rung, ring) = AsyncStream.makeStream(of: String.self)
        var gone: Owner? = Owner("gone", ring)
        let other = Owner("other", ring)
        weak let kept = gone
        if let gone { alarms.set(start + .seconds(5), for: gone) }
        gone = nil
        #expect(kept == nil)
        alarms.set(start + .seconds(10), for: other)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await alarms.run() }
            for deadline in [5, 10] {
                await clock.manual.somebodySleeps(until: start + .seconds(deadline))
                clock.manual.advance(.seconds(5))
            }
            var rings = rung.makeAsyncIterator()
            #expect(await rings.next() == "other")
            group.cancelAll()
        }
    }
}

/// A manual clock that counts how often it is looked at.
private final class CountingClock: SystemClock {
    let manual = ManualClock()
    private let count = Atomic(0)

    var looks: Int { count.load(ordering: .relaxed) }

    func now() -> Moment {
        count.add(1, ordering: .relaxed)
        return manual.now()
    }

    func sleep(until deadline: BootInstant) async throws { try await manual.sleep(until: deadline) }
}
