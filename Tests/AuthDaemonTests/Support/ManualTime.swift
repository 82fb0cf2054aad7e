import NIOCore
import Synchronization

/// The time of a loop. It stands still until a test lets it pass.
final class ManualTime: Sendable {
    private let nanoseconds = Atomic<UInt64>(1_000_000_000_000)

    var now: NIODeadline { .uptimeNanoseconds(nanoseconds.load(ordering: .sequentiallyConsistent)) }

    func pass(_ amount: TimeAmount) {
        nanoseconds.add(UInt64(amount.nanoseconds), ordering: .sequentiallyConsistent)
    }
}
