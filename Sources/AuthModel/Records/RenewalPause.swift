/// How long a session is not renewed after failed tries: what has to outlive a restart, or each one would be a try.
///
/// Dates, not deadlines: it may be read after a reboot.
package struct RenewalPause: Sendable, Equatable {
    /// A longer `Retry-After` is cut to this: a wrong one must not stop a session for a day.
    package static let longest = Duration.seconds(3600)

    /// In a row.
    package let failures: Int
    /// When it began and when it ends.
    package let from: WallTime
    package let until: WallTime
    /// The provider itself asked for it: then a change of network does not end it.
    package let isRequestedByProvider: Bool

    package init(failures: Int, from: WallTime, until: WallTime, isRequestedByProvider: Bool) {
        self.failures = failures
        self.from = from
        self.until = until
        self.isRequestedByProvider = isRequestedByProvider
    }

    /// What is left of it: whatever the clock was set to meanwhile, no more than there was.
    package func left(at now: WallTime) -> Duration {
        min(max(.zero, until - now), max(.zero, until - from))
    }
}
