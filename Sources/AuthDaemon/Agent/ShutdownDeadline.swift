package import AuthModel
import Synchronization

/// When the agent began to stop. Requests in flight have ``grace`` from then on, whatever waits for them.
package final class ShutdownDeadline: Sendable {
    /// For requests in flight, while systemd or the user waits.
    package static let grace = Duration.seconds(5)

    private let began = Mutex<BootInstant?>(nil)

    package init() {}

    package func begin(at now: BootInstant) { _ = deadline(at: now) }

    /// Until when requests may be waited for.
    package func deadline(at now: BootInstant) -> BootInstant {
        began.withLock { began in
            let start = began ?? now
            began = start
            return start + Self.grace
        }
    }
}
