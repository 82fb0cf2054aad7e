package import AuthModel
internal import Synchronization

/// The next deadline of each of several things, such as sessions, kept by one sleeping task for all of them.
///
/// Invariant: it wakes for deadlines and for earlier ones being set, and for nothing else.
package final class Alarms<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var deadlines: [Key: BootInstant] = [:]
        /// Of the present wait; each has its own, because an abandoned stream never waits again.
        var bell: AsyncStream<Void>.Continuation?

        var first: BootInstant? { deadlines.values.min() }
    }

    private let state = Mutex(State())
    private let clock: any SystemClock

    package init(clock: any SystemClock) {
        self.clock = clock
    }

    /// Replaces the deadline of one of them; `nil` takes it away.
    package func set(_ deadline: BootInstant?, for key: Key) {
        let bell: AsyncStream<Void>.Continuation? = state.withLock { state in
            let first = state.first
            state.deadlines[key] = deadline
            guard let deadline, first.map({ deadline < $0 }) ?? true else { return nil }
            return state.bell
        }
        bell?.yield()
    }

    /// Calls `ring` with each of those whose deadline has come, until it is cancelled.
    package func run(ring: @Sendable ([Key]) async -> Void) async {
        while !Task.isCancelled {
            await waitForDeadline()
            let now = clock.now().boot
            let due = state.withLock { state in
                let due = state.deadlines.filter { $0.value <= now }.map(\.key)
                for key in due { state.deadlines[key] = nil }
                return due
            }
            if !due.isEmpty { await ring(due) }
        }
    }

    /// Returns at the first deadline, when an earlier one is set, or when the task is cancelled.
    private func waitForDeadline() async {
        let (rings, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let deadline = state.withLock { state in
            state.bell = bell
            return state.first
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in rings { break }
            }
            if let deadline {
                // Cancelled only together with this group, whose end is all that it would tell.
                group.addTask { [clock] in try? await clock.sleep(until: deadline) }
            }
            await group.next()
            group.cancelAll()
        }
    }
}
