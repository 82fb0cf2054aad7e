/// The date of a header field, in any of its three forms (RFC 9110 §5.6.7).
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    /// - Parameter now: resolves a two-digit year, which is at most 50 years ahead.
    package static func parse(_ text: String, now: WallTime) -> WallTime? {
        let date = preferred(text) ?? obsolete(text, now: now) ?? asctime(text)
        guard let date, date.isReal else { return nil }
        return WallTime(unixSeconds: Double(date.unixSeconds))
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func preferred(_ text: String) -> CivilDate? {
        var scanner = ByteScanner(text)
        guard skipOne(of: days, &scanner), scanner.skip(word: ", "), let day = scanner.number(digits: 2),
            scanner.skip(" "), let month = month(&scanner), scanner.skip(" "), let year = scanner.number(digits: 4),
            scanner.skip(" ")
        else { return nil }
        var date = CivilDate(year: year, month: month, day: day)
        return time(&date, &scanner) && scanner.skip(word: " GMT") && scanner.isAtEnd ? date : nil
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func obsolete(_ text: String, now: WallTime) -> CivilDate? {
        var scanner = ByteScanner(text)
        guard skipOne(of: longDays, &scanner), scanner.skip(word: ", "), let day = scanner.number(digits: 2),
            scanner.skip("-"), let month = month(&scanner), scanner.skip("-"), let year = scanner.number(digits: 2),
            scanner.skip(" ")
        else { return nil }
        let thisYear = Self.year(of: now)
        var full = thisYear - thisYear % 100 + year
        if full > thisYear + 50 { full -= 100 }
        var date = CivilDate(year: full, month: month, day: day)
        return time(&date, &scanner) && scanner.skip(word: " GMT") && scanner.isAtEnd ? date : nil
    }

    /// `Sun Nov  6 08:49:37 1994`
    private static func asctime(_ text: String) -> CivilDate? {
        var scanner = ByteScanner(text)
        guard skipOne(of: days, &scanner), scanner.skip(" "), let month = month(&scanner), scanner.skip(" "),
            let day = scanner.skip(" ") ? scanner.number(digits: 1) : scanner.number(digits: 2), scanner.skip(" ")
        else { return nil }
        var date = CivilDate(year: 0, month: month, day: day)
        guard time(&date, &scanner), scanner.skip(" "), let year = scanner.number(digits: 4), scanner.isAtEnd else {
            return nil
        }
        date.year = year
        return date
    }

    private static func time(_ date: inout CivilDate, _ scanner: inout ByteScanner) -> Bool {
        guard let hour = scanner.number(digits: 2), scanner.skip(":"), let minute = scanner.number(digits: 2),
            scanner.skip(":"), let second = scanner.number(digits: 2)
        else { return false }
        (date.hour, date.minute, date.second) = (hour, minute, second)
        return true
    }

    private static func month(_ scanner: inout ByteScanner) -> Int? {
        for (index, name) in months.enumerated() where scanner.skip(word: name) { return index + 1 }
        return nil
    }

    private static func skipOne(of words: [String], _ scanner: inout ByteScanner) -> Bool {
        for word in words where scanner.skip(word: word) { return true }
        return false
    }

    /// Accurate enough to find the century.
    private static func year(of now: WallTime) -> Int {
        1970 + Int(max(0, min(now.unixSeconds, 2e11)) / 31_556_952)
    }
}
