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
    private struct Owner {
        weak var object: (any AlarmOwner)?
    }

    private struct State {
        /// Its keys are those of `owners`. They are apart because all deadlines are compared often, and to copy a weak reference
        /// takes longer.
        var deadlines: [ObjectIdentifier: BootInstant] = [:]
        var owners: [ObjectIdentifier: Owner] = [:]
        /// Ends the present sleep.
        var waker: AsyncStream<Void>.Continuation?
        /// When the present sleep ends; `nil`: only when it is woken.
        var wakesAt: BootInstant?

        /// Looks at all alarms, so it is not used for each change.
        var first: BootInstant? { deadlines.values.min() }

        /// Removes the alarms up to now.
        /// - Returns: their owners, in the order of their deadlines.
        mutating func takeDue(_ now: BootInstant) -> [Owner] {
            let due = deadlines.filter { $0.value <= now }.sorted { $0.value < $1.value }
            return due.compactMap { owner, _ in
                deadlines[owner] = nil
                return owners.removeValue(forKey: owner)
            }
        }
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
            state.deadlines[ObjectIdentifier(owner)] = deadline
            state.owners[ObjectIdentifier(owner)] = deadline.map { _ in Owner(object: owner) }
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
            for owner in state.withLock({ $0.takeDue(now) }) { await owner.object?.ring() }
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
