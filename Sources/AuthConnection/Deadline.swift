import Glibc

/// The end of a wait, on CLOCK_MONOTONIC.
///
/// This clock does not count the machine's sleep and cannot be set: right for a socket, wrong for a token's expiry.
public struct Deadline: Sendable, Comparable {
    /// Since the clock's start; `Int64.max` means never.
    let nanoseconds: Int64

    public static var never: Deadline { Deadline(nanoseconds: .max) }

    public static var now: Deadline {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Deadline(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// `length` from now. A negative length has already passed; one over 290 years means never.
    public static func after(_ length: Duration) -> Deadline {
        let (seconds, attoseconds) = length.components
        let (whole, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (length, isTooLong) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !tooLong, !isTooLong else { return seconds < 0 ? .now : .never }
        let (end, beyond) = now.nanoseconds.addingReportingOverflow(length)
        return beyond ? .never : Deadline(nanoseconds: end)
    }

    public static func < (left: Deadline, right: Deadline) -> Bool { left.nanoseconds < right.nanoseconds }

    public var hasPassed: Bool { self != .never && self <= .now }

    /// For poll(2): milliseconds rounded up, 0 if it has passed, -1 for never.
    package var pollTimeout: Int32 {
        guard self != .never else { return -1 }
        let left = nanoseconds - Deadline.now.nanoseconds
        guard left > 0 else { return 0 }
        return Int32(clamping: (left - 1) / 1_000_000 + 1)
    }
}
