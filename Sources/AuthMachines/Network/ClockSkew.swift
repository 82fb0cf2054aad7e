package import AuthModel

/// How far a provider's clock is ahead of this machine's, from the `Date` of a response (RFC 9110 §6.6.1).
///
/// Relative to CLOCK_BOOTTIME, so that a later change of the wall clock counts at once.
package struct ClockSkew: Sendable, Equatable {
    /// Less than this does no harm and is not reported.
    package static let reportableSkew = Duration.seconds(60)
    /// A date has whole seconds.
    private static let resolution = 1.0
    /// An `Age` above this counts as this (RFC 9111 §1.2.2).
    private static let longestAge = 1 << 31

    /// The provider's Unix seconds when this machine was started: the lower and upper bound.
    private let lowerBound: Double
    private let upperBound: Double

    /// `nil` for a response without a readable date.
    package init?(_ reply: HTTPResponse, sent: Moment, received: Moment) {
        guard let date = reply.header("Date").flatMap({ HTTPDate.parse($0, now: received.wall) }) else { return nil }
        // A copy from a cache on the way includes its age (RFC 9111 §5.1).
        let age = reply.header("Age").flatMap { Int($0) }.map { Double(min(max(0, $0), Self.longestAge)) } ?? 0
        let then = date.unixSeconds + age
        lowerBound = then - received.boot.sinceBoot.seconds
        upperBound = then + Self.resolution - sent.boot.sinceBoot.seconds
    }

    /// The smallest difference that explains the response; negative if the provider's clock is behind.
    package func value(at now: Moment) -> Duration {
        let ours = now.wall.unixSeconds - now.boot.sinceBoot.seconds
        if lowerBound > ours { return .seconds(lowerBound - ours) }
        return upperBound < ours ? .seconds(upperBound - ours) : .zero
    }

    /// Whole seconds; `nil` if it is too small to report.
    package func reportable(at now: Moment) -> Duration? {
        let seconds = value(at: now).seconds
        return abs(seconds) >= Self.reportableSkew.seconds ? .seconds(Int(seconds)) : nil
    }
}
