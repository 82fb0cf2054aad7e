package import AuthModel

/// The waits between failed tries: exponential with full jitter, from 1 s to 5 min.
///
/// Full jitter spreads many agents that failed together; the cap keeps a long outage cheap and its end soon noticed.
package struct Backoff: Sendable, Equatable {
    package static let shortest = Duration.seconds(1)
    package static let longest = Duration.seconds(300)
    /// The longest `Retry-After` of a provider that is followed.
    package static let longestHold = RenewalPause.longest

    /// Failures in a row.
    package private(set) var failures = 0

    package init(failures: Int = 0) {
        self.failures = failures
    }

    /// The wait after one more failure. A provider's own `Retry-After` is a lower bound.
    package mutating func next(retryAfter: Duration?, using random: inout SeededRandom) -> Duration {
        let ceiling = min(Self.longest, Self.shortest * (1 << min(failures, 16)))
        failures += 1
        let wait = random.duration(in: Self.shortest...ceiling)
        guard let retryAfter else { return wait }
        return max(min(retryAfter, Self.longestHold), wait)
    }

    package mutating func reset() {
        failures = 0
    }
}
