package import AuthModel
import Glibc

/// The clock of a host whose date may be wrong.
package struct HostClock: SystemClock {
    let error: Duration

    package init(error: Duration = .zero) {
        self.error = error
    }

    package func now() -> Moment {
        var (boot, wall) = (timespec(), timespec())
        unsafe clock_gettime(CLOCK_BOOTTIME, &boot)
        unsafe clock_gettime(CLOCK_REALTIME, &wall)
        return Moment(
            boot: BootInstant(nanoseconds: Int64(boot.tv_sec) * 1_000_000_000 + Int64(boot.tv_nsec)),
            wall: WallTime(unixSeconds: Double(wall.tv_sec) + Double(wall.tv_nsec) / 1e9) + error)
    }

    package func sleep(until deadline: BootInstant) async throws {
        let wait = deadline - bootInstant
        guard wait > .zero else { return try Task.checkCancellation() }
        try await Task.sleep(for: wait, clock: .continuous)
    }
}
