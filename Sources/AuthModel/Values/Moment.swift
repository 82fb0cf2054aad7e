/// A point on CLOCK_BOOTTIME: it goes on during sleep and nobody can set it. Every deadline of ours is one.
package struct BootInstant: Sendable, Hashable, Comparable {
    /// Since the machine was started.
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

/// A date: Unix seconds. People and providers speak in these; nothing waits for one.
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

/// Both clocks read at once, so that a date can be turned into a deadline and back.
package struct Moment: Sendable, Hashable {
    package let boot: BootInstant
    package let wall: WallTime

    package init(boot: BootInstant, wall: WallTime) {
        self.boot = boot
        self.wall = wall
    }

    /// The deadline that a date is, seen from this moment.
    package func deadline(for date: WallTime) -> BootInstant { boot + (date - wall) }

    /// The date that a deadline is, seen from this moment.
    package func date(of deadline: BootInstant) -> WallTime { wall + (deadline - boot) }
}

extension Duration {
    /// As a fraction of seconds, for arithmetic with shares and for people.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
