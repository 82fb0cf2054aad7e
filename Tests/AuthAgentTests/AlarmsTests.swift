import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("The alarms of all sessions", .timeLimit(.minutes(1)))
struct AlarmsTests {
    private let clock = CountingClock()
    private let one: SessionName
    private let two: SessionName

    init() throws {
        one = try SessionName("one")
        two = try SessionName("two")
    }

    @Test("ring one after the other, and sleep in between")
    func inTurn() async {
        let alarms = Alarms<SessionName>(clock: clock)
        let start = clock.now().boot
        let (rung, ring) = AsyncStream.makeStream(of: [SessionName].self)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await alarms.run { ring.yield($0) } }
            var rings = rung.makeAsyncIterator()
            for round in 1...20 {
                let deadline = start + .seconds(round)
                alarms.set(deadline, for: round.isMultiple(of: 2) ? one : two)
                await clock.manual.somebodySleeps(until: deadline)
                clock.manual.advance(.seconds(1))
                let due = await rings.next()
                #expect(due == [round.isMultiple(of: 2) ? one : two])
            }
            // Two looks a deadline: one that sets it earlier, one when it has come.
            #expect(clock.looks <= 2 * 20 + 2)
            group.cancelAll()
        }
    }

    @Test("an earlier deadline is taken over, a later one and one taken away wake nobody")
    func sooner() async {
        let alarms = Alarms<SessionName>(clock: clock)
        let start = clock.now().boot
        let (rung, ring) = AsyncStream.makeStream(of: [SessionName].self)
        await withTaskGroup(of: Void.self) { group in
            alarms.set(start + .seconds(100), for: one)
            group.addTask { await alarms.run { ring.yield($0) } }
            await clock.manual.somebodySleeps(until: start + .seconds(100))
            alarms.set(start + .seconds(200), for: two)
            alarms.set(nil, for: two)
            #expect(clock.looks == 1)
            alarms.set(start + .seconds(5), for: two)
            await clock.manual.somebodySleeps(until: start + .seconds(5))
            clock.manual.advance(.seconds(5))
            var rings = rung.makeAsyncIterator()
            #expect(await rings.next() == [two])
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
