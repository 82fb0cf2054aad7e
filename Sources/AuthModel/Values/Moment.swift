/// A point on CLOCK_BOOTTIME, which includes sleep and cannot be set. All deadlines use it.
///
/// In nanoseconds, as the kernel has it, so that comparing two costs one instruction. Values saturate at 292 years.
package struct BootInstant: Sendable, Hashable, Comparable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package init(sinceBoot: Duration) {
        nanoseconds = sinceBoot.wholeNanoseconds
    }

    package var sinceBoot: Duration { .nanoseconds(nanoseconds) }

    /// The whole milliseconds from another instant to this one.
    package func milliseconds(after other: BootInstant) -> Int64 {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        return (overflow ? (nanoseconds < 0 ? .min : .max) : difference) / 1_000_000
    }

    package static func < (left: BootInstant, right: BootInstant) -> Bool { left.nanoseconds < right.nanoseconds }
    /// Rounded up, so that a deadline is never too early.
    package static func + (left: BootInstant, right: Duration) -> BootInstant {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanosecondsRoundedUp)
        return BootInstant(nanoseconds: overflow ? (left.nanoseconds < 0 ? .min : .max) : sum)
    }
    package static func - (left: BootInstant, right: Duration) -> BootInstant { left + (.zero - right) }
    package static func - (left: BootInstant, right: BootInstant) -> Duration { left.sinceBoot - right.sinceBoot }
}

/// A date in Unix seconds, for users and providers. Nothing waits for one.
package struct WallTime: Sendable, Hashable, Comparable {
    package let unixSeconds: Double

    package init(unixSeconds: Double) {
        self.unixSeconds = unixSeconds
    }

    package static func < (left: WallTime, right: WallTime) -> Bool { left.unixSeconds < right.unixSeconds }
    package static func + (left: WallTime, right: Duration) -> WallTime {
        WallTime(unixSeconds: left.unixSeconds + right.seconds)
    }
    package static func - (left: WallTime, right: WallTime) -> Duration {
        .seconds(left.unixSeconds - right.unixSeconds)
    }
}

/// Both clocks, read at once, so that dates and deadlines can be converted.
package struct Moment: Sendable, Hashable {
    package let boot: BootInstant
    package let wall: WallTime

    package init(boot: BootInstant, wall: WallTime) {
        self.boot = boot
        self.wall = wall
    }

    package func deadline(for date: WallTime) -> BootInstant { boot + (date - wall) }

    package func date(of deadline: BootInstant) -> WallTime { wall + (deadline - boot) }
}

extension Duration {
    /// One that is too long is the longest.
    fileprivate var nanosecondsRoundedUp: Int64 {
        let whole = wholeNanoseconds
        return whole < .max && .nanoseconds(whole) < self ? whole + 1 : whole
    }

    /// Rounded towards zero. One that is too long is the longest.
    fileprivate var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || carry ? (seconds < 0 ? .min : .max) : sum
    }

    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
