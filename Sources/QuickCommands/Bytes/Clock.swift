import CStart

/// Times in Unix seconds (`WallClock` of the full program).
enum Clock {
    static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// `14:32`, with the date if it is not today's, in the user's time zone; `nil` for a time that is far away.
    static func text(_ instant: Double, now: Double) -> ByteString? {
        guard let there = CivilTime(local: instant), let here = CivilTime(local: now) else { return nil }
        var text = ByteString()
        if !there.isSameDay(as: here) {
            there.appendDate(to: &text)
            text.append(" ")
        }
        there.appendTime(to: &text)
        return text
    }

    /// `2026-11-23T14:32:00Z` (RFC 3339); `nil` for a time that is far away.
    static func utc(_ instant: Double) -> ByteString? {
        guard let there = CivilTime(utc: instant) else { return nil }
        var text = ByteString()
        there.appendDate(to: &text)
        text.append("T")
        there.appendTime(to: &text)
        text.append(":")
        text.append(twoDigits: there.second)
        text.append("Z")
        return text
    }
}

/// A date and a time of day.
private struct CivilTime {
    private let year: Int
    private let month: Int
    private let day: Int
    private let hour: Int
    private let minute: Int
    let second: Int

    /// Before the year 5138: no year has five digits.
    private static let latest: Double = 1e11

    init?(local instant: Double) {
        guard var seconds = Self.whole(instant) else { return nil }
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return nil }
        unsafe self.init(parts)
    }

    init?(utc instant: Double) {
        guard var seconds = Self.whole(instant) else { return nil }
        var parts = unsafe tm()
        guard unsafe gmtime_r(&seconds, &parts) != nil else { return nil }
        unsafe self.init(parts)
    }

    private init(_ parts: tm) {
        unsafe (year, month, day) = (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
        unsafe (hour, minute, second) = (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
    }

    private static func whole(_ instant: Double) -> time_t? {
        instant >= 0 && instant < latest ? time_t(instant) : nil
    }

    func isSameDay(as other: CivilTime) -> Bool {
        year == other.year && month == other.month && day == other.day
    }

    func appendDate(to text: inout ByteString) {
        text.append(year)
        text.append("-")
        text.append(twoDigits: month)
        text.append("-")
        text.append(twoDigits: day)
    }

    func appendTime(to text: inout ByteString) {
        text.append(twoDigits: hour)
        text.append(":")
        text.append(twoDigits: minute)
    }
}
