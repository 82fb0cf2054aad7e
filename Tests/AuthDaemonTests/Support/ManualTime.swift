import Synchronization

/// The time of a loop. Only the test advances it.
final class ManualTime: Sendable {
    private let start = SuspendingClock.now
    private let passed = Mutex(Duration.zero)

    var now: SuspendingClock.Instant { start + passed.withLock { $0 } }

    func pass(_ amount: Duration) { passed.withLock { $0 += amount } }
}
