import Glibc

/// Three clocks that distinguish sleep from a clock change.
package struct ClockReading: Equatable {
    /// CLOCK_BOOTTIME, which includes sleep.
    package var boot: Duration
    /// CLOCK_MONOTONIC, which excludes sleep.
    package var awake: Duration
    /// CLOCK_REALTIME.
    package var wall: Duration

    /// The clocks are read one after the other, and a time server adjusts the wall clock.
    static let tolerance = Duration.seconds(1)

    package init(boot: Duration, awake: Duration, wall: Duration) {
        self.boot = boot
        self.awake = awake
        self.wall = wall
    }

    static func now() -> ClockReading {
        ClockReading(boot: read(CLOCK_BOOTTIME), awake: read(CLOCK_MONOTONIC), wall: read(CLOCK_REALTIME))
    }

    /// How long the machine has slept since then; zero if it is not worth reporting.
    package func sleep(since earlier: ClockReading) -> Duration {
        let slept = (boot - awake) - (earlier.boot - earlier.awake)
        return slept > Self.tolerance ? slept : .zero
    }

    /// How far the wall clock was set since then, negative for backwards; zero if it is not worth reporting.
    package func shift(since earlier: ClockReading) -> Duration {
        let shift = (wall - boot) - (earlier.wall - earlier.boot)
        return abs(shift) > Self.tolerance ? shift : .zero
    }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

private func abs(_ duration: Duration) -> Duration {
    duration < .zero ? .zero - duration : duration
}
