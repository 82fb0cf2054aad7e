package import AuthModel

/// How far a provider's clock is ahead of this machine's, as the `Date` of an answer tells (RFC 9110 §6.6.1).
///
/// Held against CLOCK_BOOTTIME, so that a wall clock that is set later is seen at once.
package struct ClockSkew: Sendable, Equatable {
    /// Less than this harms nobody, and is no news.
    package static let worthTelling = Duration.seconds(60)
    /// A date is cut to the second.
    private static let resolution = 1.0

    /// Unix seconds at the provider when this machine was started: no less, and no more.
    private let least: Double
    private let most: Double

    /// `nil` for an answer without a date that can be read.
    package init?(_ reply: HTTPResponse, sent: Moment, received: Moment) {
        guard let date = reply.header("Date").flatMap({ HTTPDate.parse($0, now: received.wall) }) else { return nil }
        // A copy from a cache on the way says how old it is (RFC 9111 §5.1).
        let age = reply.header("Age").flatMap { Int($0) }.map { Double(max(0, $0)) } ?? 0
        let then = date.unixSeconds + age
        least = then - received.boot.sinceBoot.seconds
        most = then + Self.resolution - sent.boot.sinceBoot.seconds
    }

    /// The least difference that explains the answer; below zero where the provider's clock is behind.
    package func value(at now: Moment) -> Duration {
        let ours = now.wall.unixSeconds - now.boot.sinceBoot.seconds
        if least > ours { return .seconds(least - ours) }
        return most < ours ? .seconds(most - ours) : .zero
    }

    /// In whole seconds; `nil` where it is too little to be told.
    package func worthTelling(at now: Moment) -> Duration? {
        let seconds = value(at: now).seconds
        return abs(seconds) >= Self.worthTelling.seconds ? .seconds(Int(seconds)) : nil
    }
}
