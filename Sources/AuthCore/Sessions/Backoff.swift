/// The waits between failed tries: exponential with full jitter, from 1 s to 5 min.
///
/// Full jitter spreads many agents that failed together; the cap keeps a long outage cheap and its end soon noticed.
package struct Backoff: Sendable, Equatable {
    package static let shortest = Duration.seconds(1)
    package static let longest = Duration.seconds(300)

    /// Failures in a row.
    package private(set) var failures = 0

    package init() {}

    /// The wait after one more failure. A provider's own `Retry-After` is a lower bound, capped at an hour.
    package mutating func next(retryAfter: Duration?, using random: inout SeededRandom) -> Duration {
        let ceiling = min(Self.longest, Self.shortest * (1 << min(failures, 16)))
        failures += 1
        let wait = random.duration(in: Self.shortest...ceiling)
        guard let retryAfter else { return wait }
        return max(min(retryAfter, .seconds(3600)), wait)
    }

    package mutating func reset() {
        failures = 0
    }
}
