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
            boot: bootInstant,
            wall: WallTime(unixSeconds: Double(date.tv_sec) + Double(date.tv_nsec) / 1e9))
    }

    package var bootInstant: BootInstant {
        let time = Self.read(CLOCK_BOOTTIME)
        return BootInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package func sleep(until deadline: BootInstant) async throws {
        let clock = ContinuousClock()
        let wait = deadline - bootInstant
        guard wait > .zero else { return try Task.checkCancellation() }
        try await clock.sleep(until: clock.now + wait)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return time
    }
}
