package import AuthWire
internal import Synchronization

/// The next deadline of each session, kept by one sleeping task for all of them.
///
/// Invariant: it wakes for deadlines and for earlier ones being set, and for nothing else.
package final class Alarms: Sendable {
    private let deadlines = Mutex<[SessionName: BootInstant]>([:])
    private let changes: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation
    private let clock: any SystemClock

    package init(clock: any SystemClock) {
        self.clock = clock
        (changes, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Replaces the deadline of a session; `nil` takes it away.
    package func set(_ deadline: BootInstant?, for session: SessionName) {
        let isSooner = deadlines.withLock { deadlines in
            let first = deadlines.values.min()
            deadlines[session] = deadline
            guard let deadline else { return false }
            return first.map { deadline < $0 } ?? true
        }
        if isSooner { bell.yield() }
    }

    /// Calls `ring` with each session whose deadline has come, until it is cancelled.
    package func run(ring: @Sendable ([SessionName]) async -> Void) async {
        while !Task.isCancelled {
            let next = deadlines.withLock { $0.values.min() }
            await waitForChange(or: next)
            let now = clock.now().boot
            let due = deadlines.withLock { deadlines in
                let due = deadlines.filter { $0.value <= now }.map(\.key)
                for session in due { deadlines[session] = nil }
                return due
            }
            if !due.isEmpty { await ring(due) }
        }
    }

    private func waitForChange(or deadline: BootInstant?) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [changes] in
                for await _ in changes { break }
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
