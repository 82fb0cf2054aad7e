/// A point on CLOCK_BOOTTIME, which includes sleep and cannot be set. All deadlines use it.
package struct BootInstant: Sendable, Hashable, Comparable {
    package let sinceBoot: Duration

    package init(sinceBoot: Duration) {
        self.sinceBoot = sinceBoot
    }

    package static func < (left: BootInstant, right: BootInstant) -> Bool { left.sinceBoot < right.sinceBoot }
    package static func + (left: BootInstant, right: Duration) -> BootInstant {
        BootInstant(sinceBoot: left.sinceBoot + right)
    }
    package static func - (left: BootInstant, right: Duration) -> BootInstant {
        BootInstant(sinceBoot: left.sinceBoot - right)
    }
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
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
