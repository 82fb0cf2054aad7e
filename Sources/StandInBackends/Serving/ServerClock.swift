import Foundation
import Synchronization

/// The clock of all backends, which tests can advance.
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
