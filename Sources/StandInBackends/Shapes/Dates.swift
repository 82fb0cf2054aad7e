import Foundation

/// The date formats of the five backends.
enum Dates {
    /// RFC 3339 in UTC: `2026-01-30T23:17:41Z`.
    static func utc(_ date: Date) -> JSONValue {
        .string(date.formatted(.iso8601))
    }

    /// RFC 9557 with the zone's name: `2026-01-30T15:17:41-08:00[America/Los_Angeles]`.
    static func inLosAngeles(_ date: Date) -> JSONValue {
        // Without a database of time zones, use the standard offset.
        let zone = TimeZone(identifier: "America/Los_Angeles") ?? TimeZone(secondsFromGMT: -8 * 3600) ?? .gmt
        let style = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone)
        return .string(date.formatted(style) + "[America/Los_Angeles]")
    }

    /// RFC 9110 §5.6.7, for the `Date` field: `Fri, 30 Jan 2026 23:17:41 GMT`.
    static func http(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents(
            [.year, .month, .day, .weekday, .hour, .minute, .second], from: date)
        let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func padded(_ number: Int?, _ width: Int = 2) -> String {
            let digits = String(number ?? 0)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let day = weekdays[(parts.weekday ?? 1) - 1]
        let month = months[(parts.month ?? 1) - 1]
        let time = "\(padded(parts.hour)):\(padded(parts.minute)):\(padded(parts.second))"
        return "\(day), \(padded(parts.day)) \(month) \(padded(parts.year, 4)) \(time) GMT"
    }

    static func unixSeconds(_ seconds: Double) -> Date {
        Date(timeIntervalSince1970: seconds)
    }
}
