import CLinux
import Glibc

/// Shows Unix seconds as local time.
enum WallClock {
    static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// `14:32`, with the date if it is not today's, in the user's time zone.
    static func text(_ instant: Double, now: Double, withSeconds: Bool = false) -> String {
        guard let there = Local(instant), let here = Local(now) else { return "?" }
        return (there.date == here.date ? "" : there.date + " ") + there.time + (withSeconds ? ":" + there.second : "")
    }

    /// `2026-11-23T14:32:00Z` (RFC 3339).
    static func utc(_ instant: Double) -> String {
        guard var seconds = time_t(exactly: instant.rounded(.down)) else { return "?" }
        var parts = unsafe tm()
        guard unsafe gmtime_r(&seconds, &parts) != nil else { return "?" }
        let date = unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return unsafe "\(date)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }

    private struct Local {
        let date: String
        let time: String
        let second: String

        init?(_ instant: Double) {
            guard var seconds = time_t(exactly: instant.rounded(.down)) else { return nil }
            var parts = unsafe tm()
            guard unsafe localtime_r(&seconds, &parts) != nil else { return nil }
            date = unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            time = unsafe two(parts.tm_hour) + ":" + two(parts.tm_min)
            second = unsafe two(parts.tm_sec)
        }
    }

    private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
