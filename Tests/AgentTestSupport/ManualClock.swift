package import AuthModel
import Synchronization

/// A clock that only the test turns; whoever sleeps wakes when it passes their deadline.
package final class ManualClock: SystemClock {
    private struct Sleeper {
        let deadline: BootInstant
        let continuation: CheckedContinuation<Void, any Error>
    }
    private struct State {
        var elapsed = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var last = 0
        var waitingForSleep: [(BootInstant, CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    package init() {}

    package func now() -> Moment { Self.moment(state.withLock { $0.elapsed }) }

    package static func moment(_ elapsed: Duration) -> Moment {
        Moment(
            boot: BootInstant(sinceBoot: .seconds(5000) + elapsed),
            wall: WallTime(unixSeconds: 1_800_000_000 + elapsed.seconds))
    }

    package func advance(_ duration: Duration) {
        let due = state.withLock { state in
            state.elapsed += duration
            let now = Self.moment(state.elapsed).boot
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Returns when somebody sleeps until that deadline or an earlier one: then turning the clock wakes them.
    package func somebodySleeps(until deadline: BootInstant) async {
        await withCheckedContinuation { continuation in
            let already = state.withLock { state in
                if state.sleepers.values.contains(where: { $0.deadline <= deadline }) { return true }
                state.waitingForSleep.append((deadline, continuation))
                return false
            }
            if already { continuation.resume() }
        }
    }

    /// Whether somebody sleeps until just that deadline.
    package func hasSleeper(until deadline: BootInstant) -> Bool {
        state.withLock { $0.sleepers.values.contains { $0.deadline == deadline } }
    }

    package func sleep(until deadline: BootInstant) async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(Sleeper(deadline: deadline, continuation: continuation), number)
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func add(_ sleeper: Sleeper, _ number: Int) {
        enum Outcome { case due, cancelled, sleeps([CheckedContinuation<Void, Never>]) }
        let outcome: Outcome = state.withLock { state in
            if state.cancelled.contains(number) { return .cancelled }
            if sleeper.deadline <= Self.moment(state.elapsed).boot { return .due }
            state.sleepers[number] = sleeper
            let awoken = state.waitingForSleep.filter { sleeper.deadline <= $0.0 }.map(\.1)
            state.waitingForSleep.removeAll { sleeper.deadline <= $0.0 }
            return .sleeps(awoken)
        }
        switch outcome {
        case .due: sleeper.continuation.resume()
        case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
        case .sleeps(let awoken): for continuation in awoken { continuation.resume() }
        }
    }
}
