import NIOCore

extension TimeAmount {
    /// Rounded down to a nanosecond, the ends clamped.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self = .nanoseconds(overflow ? (seconds < 0 ? .min : .max) : whole &+ attoseconds / 1_000_000_000)
    }
}
