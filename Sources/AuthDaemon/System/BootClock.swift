package import AuthModel
import CLinux
import CSystemd
import Glibc

/// The machine's clocks: deadlines on CLOCK_BOOTTIME (time asleep counts), dates on CLOCK_REALTIME.
///
/// On Linux `ContinuousClock` is CLOCK_BOOTTIME, and sleeping on it arms a timerfd of that clock.
package struct BootClock: SystemClock {
    package init() {}

    package func now() -> Moment {
        let date = Self.read(CLOCK_REALTIME)
        return Moment(
            boot: BootInstant(sinceBoot: Self.sinceBoot()),
            wall: WallTime(unixSeconds: Double(date.tv_sec) + Double(date.tv_nsec) / 1e9))
    }

    package func sleep(until deadline: BootInstant) async throws {
        let clock = ContinuousClock()
        let wait = deadline.sinceBoot - Self.sinceBoot()
        guard wait > .zero else { return try Task.checkCancellation() }
        try await clock.sleep(until: clock.now + wait)
    }

    private static func sinceBoot() -> Duration {
        let time = read(CLOCK_BOOTTIME)
        return Duration(
            secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return time
    }
}
