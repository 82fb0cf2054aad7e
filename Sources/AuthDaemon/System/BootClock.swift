package import AuthCore
import Glibc

/// The machine's clocks: deadlines on CLOCK_BOOTTIME (time asleep counts), dates on CLOCK_REALTIME.
///
/// On Linux `ContinuousClock` is CLOCK_BOOTTIME, and sleeping on it arms a timerfd of that clock.
package struct BootClock: SystemClock {
    package init() {}

    package func now() -> Moment {
        Moment(
            boot: BootInstant(sinceBoot: Self.read(CLOCK_BOOTTIME)),
            wall: WallTime(unixSeconds: Self.read(CLOCK_REALTIME).seconds))
    }

    package func sleep(until deadline: BootInstant) async throws {
        let clock = ContinuousClock()
        let wait = deadline.sinceBoot - Self.read(CLOCK_BOOTTIME)
        guard wait > .zero else { return try Task.checkCancellation() }
        try await clock.sleep(until: clock.now + wait)
    }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
