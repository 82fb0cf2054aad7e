/// A pause of renewals after failed tries. It survives a restart, or each restart would be a try.
///
/// Dates, not deadlines: it may be read after a reboot.
package struct RenewalPause: Sendable, Equatable {
    /// A longer `Retry-After` is cut to this: a wrong one must not stop a session for a day.
    package static let longest = Duration.seconds(3600)

    /// Consecutive failures.
    package let failures: Int
    package let from: WallTime
    package let until: WallTime
    /// The provider asked for it: a change of network does not end it.
    package let isRequestedByProvider: Bool

    package init(failures: Int, from: WallTime, until: WallTime, isRequestedByProvider: Bool) {
        self.failures = failures
        self.from = from
        self.until = until
        self.isRequestedByProvider = isRequestedByProvider
    }

    /// The rest of the pause. If the clock was set, it is at most the whole pause.
    package func left(at now: WallTime) -> Duration {
        min(max(.zero, until - now), max(.zero, until - from))
    }
}
