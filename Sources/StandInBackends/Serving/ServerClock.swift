import Foundation
import Synchronization

/// The time as all the backends have it: the machine's, and what a test put it ahead.
final class ServerClock: Sendable {
    private let ahead = Mutex(0.0)

    /// Unix seconds.
    var now: Double {
        Date().timeIntervalSince1970 + ahead.withLock { $0 }
    }

    func advance(by seconds: Double) {
        ahead.withLock { $0 += seconds }
    }
}
