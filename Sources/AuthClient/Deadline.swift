import Glibc

/// The moment at which waiting ends, on CLOCK_MONOTONIC.
///
/// The machine's sleep does not count and nobody can set this clock: right for a socket, wrong for a token's end.
public struct Deadline: Sendable, Comparable {
    /// Since the clock's start; `Int64.max` stands for never.
    let nanoseconds: Int64

    public static var never: Deadline { Deadline(nanoseconds: .max) }

    public static var now: Deadline {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Deadline(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// `length` from now; a negative length has passed already, one beyond 290 years is never.
    public static func after(_ length: Duration) -> Deadline {
        let (seconds, attoseconds) = length.components
        let (whole, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !tooLong else { return seconds < 0 ? .now : .never }
        let (end, beyond) = now.nanoseconds.addingReportingOverflow(whole + attoseconds / 1_000_000_000)
        return beyond ? .never : Deadline(nanoseconds: end)
    }

    public static func < (left: Deadline, right: Deadline) -> Bool { left.nanoseconds < right.nanoseconds }

    public var hasPassed: Bool { self != .never && self <= .now }

    /// What poll(2) takes: milliseconds rounded up, 0 when it has passed, -1 for never.
    package var pollTimeout: Int32 {
        guard self != .never else { return -1 }
        let left = nanoseconds - Deadline.now.nanoseconds
        guard left > 0 else { return 0 }
        return Int32(clamping: (left - 1) / 1_000_000 + 1)
    }
}
