package import AuthModel
import Synchronization

/// When the agent began to stop: from then on, what is in flight has ``grace`` to end, whoever waits for it.
package final class ShutdownDeadline: Sendable {
    /// Requests in flight get so long; systemd and users wait for the rest.
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
