import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import Synchronization
import Testing

/// The gate with real tasks at it, and a clock that the test turns.
@Suite("The gate of a provider's renewals", .timeLimit(.minutes(1)))
struct RenewalTurnsTests {
    private let clock = ManualClock()
    private let workshop = TaskPool()

    @Test("thirty at once begin ten a second")
    func spread() async throws {
        try await opened { gate, clock, here in
            let begun = Begun()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in (0..<30).map({ ($0 * 7) % 30 }) {
                    group.addTask {
                        let urgency = clock.now().boot + .seconds(number)
                        let turn = await gate.turn(at: here, urgency: urgency)
                        #expect(turn == .begin)
                        begun.note(number, at: clock.now().boot)
                    }
                }
                for count in 1...30 {
                    await begun.reach(count)
                    if count < 30 {
                        await clock.somebodySleeps(until: clock.now().boot + RenewalQueue.spacing)
                        clock.advance(RenewalQueue.spacing)
                    }
                }
                try await group.waitForAll()
            }
            let times = begun.all.map(\.at)
            for (first, eleventh) in zip(times, times.dropFirst(10)) { #expect(eleventh - first >= .seconds(1)) }
            #expect(times[29] - times[0] == RenewalQueue.spacing * 29)
        }
    }

    @Test("a provider that wants to be left alone sends away who waits and who comes, and no other provider's")
    func held() async throws {
        try await opened { gate, clock, here in
            #expect(await gate.turn(at: here, urgency: clock.now().boot) == .begin)
            async let second = gate.turn(at: here, urgency: clock.now().boot)
            await clock.somebodySleeps(until: clock.now().boot + RenewalQueue.spacing)
            gate.hold(here, for: .seconds(60))
            #expect(await second == .held(.seconds(60)))
            #expect(await gate.turn(at: here, urgency: clock.now().boot) == .held(.seconds(60)))
            let elsewhere = Self.provider("elsewhere")
            #expect(await gate.turn(at: elsewhere, urgency: clock.now().boot) == .begin)
            clock.advance(.seconds(60))
            #expect(await gate.turn(at: here, urgency: clock.now().boot) == .begin)
        }
    }

    @Test("when the agent stops nobody is left waiting")
    func stopping() async throws {
        let here = Self.provider("example")
        let gate = RenewalTurns(clock: clock, workshop: workshop)
        await withTaskGroup(of: RenewalTurns.Admission.self) { group in
            let background = Task { await workshop.run() }
            #expect(await gate.turn(at: here, urgency: clock.now().boot) == .begin)
            group.addTask { await gate.turn(at: here, urgency: clock.now().boot) }
            await clock.somebodySleeps(until: clock.now().boot + RenewalQueue.spacing)
            background.cancel()
            #expect(await group.next() == .stopping)
        }
    }

    @Test("where nothing is done any more nobody waits")
    func poolClosed() async {
        let here = Self.provider("example")
        let gate = RenewalTurns(clock: clock, workshop: workshop)
        let background = Task { await workshop.run() }
        background.cancel()
        await background.value
        #expect(await gate.turn(at: here, urgency: clock.now().boot) == .stopping)
        #expect(await gate.turn(at: here, urgency: clock.now().boot) == .stopping)
    }

    @Test("one that is cancelled goes on, and gives up its place")
    func cancelled() async throws {
        try await opened { gate, clock, here in
            #expect(await gate.turn(at: here, urgency: clock.now().boot) == .begin)
            let second = Task { await gate.turn(at: here, urgency: clock.now().boot) }
            await clock.somebodySleeps(until: clock.now().boot + RenewalQueue.spacing)
            second.cancel()
            #expect(await second.value == .stopping)
            clock.advance(RenewalQueue.spacing)
            // The clock stands still: this one has the place that was given up.
            #expect(await gate.turn(at: here, urgency: clock.now().boot) == .begin)
        }
    }

    @Test("once it is closed no renewal begins, and none waits")
    func closed() async throws {
        try await opened { gate, clock, here in
            #expect(await gate.turn(at: here, urgency: clock.now().boot) == .begin)
            async let second = gate.turn(at: here, urgency: clock.now().boot)
            await clock.somebodySleeps(until: clock.now().boot + RenewalQueue.spacing)
            gate.close()
            #expect(await second == .stopping)
            clock.advance(.seconds(60))
            #expect(await gate.turn(at: here, urgency: clock.now().boot) == .stopping)
        }
    }

    private func opened(
        _ test: @escaping @Sendable (RenewalTurns, ManualClock, RenewalTurns.Provider) async throws -> Void
    ) async throws {
        let here = Self.provider("example")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await workshop.run() }
            try await test(RenewalTurns(clock: clock, workshop: workshop), clock, here)
            group.cancelAll()
        }
    }

    private static func provider(_ name: String) -> RenewalTurns.Provider {
        RenewalTurns.Provider(name: name, environment: "local")
    }
}

/// Who has begun, in order.
private final class Begun: Sendable {
    private struct State {
        var all: [(number: Int, at: BootInstant)] = []
        var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }
    private let state = Mutex(State())

    var all: [(number: Int, at: BootInstant)] { state.withLock { $0.all } }

    func note(_ number: Int, at instant: BootInstant) {
        let reached = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.all.append((number, instant))
            guard let waiting = state.waiting, state.all.count >= waiting.count else { return nil }
            state.waiting = nil
            return waiting.continuation
        }
        reached?.resume()
    }

    func reach(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.all.count >= count { return true }
                state.waiting = (count, continuation)
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
