package import AuthModel
internal import Synchronization

/// Notified at its deadline by the ``AlarmClock``.
package protocol AlarmOwner: AnyObject, Sendable {
    func ring() async
}

/// The next deadline of each of many owners, kept by one sleeping task for all of them.
///
/// Invariant: it wakes for a deadline and for an earlier one that is set, and for nothing else.
package final class AlarmClock: Sendable {
    private struct Alarm {
        let deadline: BootInstant
        weak var owner: (any AlarmOwner)?
    }

    private struct State {
        var alarms: [ObjectIdentifier: Alarm] = [:]
        /// Ends the present sleep.
        var waker: AsyncStream<Void>.Continuation?
        /// When the present sleep ends; `nil`: only when it is woken.
        var wakesAt: BootInstant?

        /// Looks at all alarms, so it is not used for each change.
        var first: BootInstant? { alarms.values.lazy.map(\.deadline).min() }
    }

    private let state = Mutex(State())
    private let clock: any SystemClock

    package init(clock: any SystemClock) {
        self.clock = clock
    }

    /// Replaces the owner's deadline. It rings once; then the owner has none.
    ///
    /// - Parameters:
    ///   - deadline: `nil`: no deadline.
    ///   - owner: held weakly.
    package func set(_ deadline: BootInstant?, for owner: some AlarmOwner) {
        let waker: AsyncStream<Void>.Continuation? = state.withLock { state in
            state.alarms[ObjectIdentifier(owner)] = deadline.map { Alarm(deadline: $0, owner: owner) }
            guard let deadline, state.wakesAt.map({ deadline < $0 }) ?? true else { return nil }
            state.wakesAt = deadline
            return state.waker
        }
        waker?.yield()
    }

    /// The next deadline of all owners.
    package var next: BootInstant? { state.withLock { $0.first } }

    /// Rings at each deadline, until it is cancelled.
    package func run() async {
        while !Task.isCancelled {
            await sleep()
            let now = clock.now().boot
            let due = state.withLock { state in
                let due = state.alarms.filter { $0.value.deadline <= now }
                for owner in due.keys { state.alarms[owner] = nil }
                return due.values.sorted { $0.deadline < $1.deadline }
            }
            for alarm in due { await alarm.owner?.ring() }
        }
    }

    /// Returns at the first deadline, when an earlier one is set, or when the task is cancelled.
    private func sleep() async {
        let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let deadline = state.withLock { state in
            state.waker = waker
            state.wakesAt = state.first
            return state.wakesAt
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in wakes { break }
            }
            if let deadline {
                // It is cancelled only with this group, whose end is all that it would report.
                group.addTask { [clock] in try? await clock.sleep(until: deadline) }
            }
            await group.next()
            group.cancelAll()
        }
    }
}
