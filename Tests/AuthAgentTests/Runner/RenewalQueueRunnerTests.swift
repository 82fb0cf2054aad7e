import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import Synchronization
import Testing

/// The queue with real tasks that wait in it, and a clock that the test turns.
@Suite("The queue of renewals", .timeLimit(.minutes(1)))
struct RenewalQueueRunnerTests {
    private let clock = ManualClock()
    private static let here = RenewalQueue.Provider(name: "example", environment: "local")

    @Test("thirty at once begin ten a second")
    func spread() async throws {
        await running { queue in
            let begun = Begun()
            await withTaskGroup(of: Void.self) { group in
                for number in (0..<30).map({ ($0 * 7) % 30 }) {
                    group.addTask {
                        #expect(
                            await Self.enter(queue, urgency: clock.now().boot + .seconds(number)) == .success(.begin))
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
            }
            let times = begun.all.map(\.at)
            for (first, eleventh) in zip(times, times.dropFirst(10)) { #expect(eleventh - first >= .seconds(1)) }
            #expect(times[29] - times[0] == RenewalQueue.spacing * 29)
        }
    }

    @Test("a provider that asks clients to wait ends the waits for it")
    func held() async throws {
        await running { queue in
            #expect(await enter(queue) == .success(.begin))
            async let second = enter(queue)
            await clock.somebodySleeps(until: clock.now().boot + RenewalQueue.spacing)
            await queue.send(.held(Self.here, for: .seconds(60)))
            #expect(await second == .success(.held(.seconds(60))))
        }
    }

    @Test("one that is cancelled gives up its place")
    func cancelled() async throws {
        await running { queue in
            #expect(await enter(queue) == .success(.begin))
            let second = Task { await enter(queue) }
            await clock.somebodySleeps(until: clock.now().boot + RenewalQueue.spacing)
            second.cancel()
            #expect(await second.value == .failure(.cancelled))
            clock.advance(RenewalQueue.spacing)
            // The clock stands still: this one has the place that was given up.
            #expect(await enter(queue) == .success(.begin))
        }
    }

    @Test("once it is closed no renewal begins, and none waits")
    func closed() async throws {
        await running { queue in
            #expect(await enter(queue) == .success(.begin))
            async let second = enter(queue)
            await clock.somebodySleeps(until: clock.now().boot + RenewalQueue.spacing)
            await queue.close()
            #expect(await second == .failure(.stopping))
            clock.advance(.seconds(60))
            #expect(await enter(queue) == .failure(.stopping))
        }
    }

    private func enter(_ queue: Runner<RenewalQueue>) async -> Result<RenewalQueue.Reply, WaitEnd> {
        await Self.enter(queue, urgency: clock.now().boot)
    }

    private static func enter(
        _ queue: Runner<RenewalQueue>, urgency: BootInstant
    ) async -> Result<RenewalQueue.Reply, WaitEnd> {
        do throws(WaitEnd) {
            return .success(try await queue.ask { .entered($0, here, urgency: urgency) })
        } catch {
            return .failure(error)
        }
    }

    private func running(_ test: (Runner<RenewalQueue>) async -> Void) async {
        let tasks = AgentTasks(clock: clock)
        await withDiscardingTaskGroup { group in
            group.addTask { await tasks.run() }
            await test(Runner(RenewalQueue(), performer: NoActions(), tasks: tasks))
            group.cancelAll()
        }
    }
}

/// The sessions that have begun, in order.
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
