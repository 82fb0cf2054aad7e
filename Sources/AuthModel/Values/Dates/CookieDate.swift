/// The date of a cookie's `Expires` attribute, which servers write in many forms (RFC 6265 §5.1.1).
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// No form that servers use is longer.
    private static let longest = 128

    /// Finds a time, a day, a month and a year, in this order of preference for each part of the text.
    static func parse(_ text: String) -> WallTime? {
        guard text.utf8.count <= longest else { return nil }
        var (time, day, month, year): ((Int, Int, Int)?, Int?, Int?, Int?) = (nil, nil, nil, nil)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            var scanner = ByteScanner(String(decoding: token, as: UTF8.self))
            if time == nil, let found = Self.time(scanner) {
                time = found
            } else if day == nil, let found = number(&scanner, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = number(&scanner, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let time, let day, let month, let year, year >= 1601 else { return nil }
        var date = CivilDate(year: year, month: month, day: day)
        (date.hour, date.minute, date.second) = time
        return date.isReal ? WallTime(unixSeconds: Double(date.unixSeconds)) : nil
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// `08:49:37`, with one or two digits each, and anything but a digit after it.
    private static func time(_ scanner: ByteScanner) -> (Int, Int, Int)? {
        var scanner = scanner
        guard let hour = part(&scanner), scanner.skip(":"), let minute = part(&scanner), scanner.skip(":"),
            let second = part(&scanner), !(scanner.next?.isDigit ?? false)
        else { return nil }
        return (hour, minute, second)
    }

    private static func part(_ scanner: inout ByteScanner) -> Int? {
        scanner.number(digits: 2) ?? scanner.number(digits: 1)
    }

    /// A number with that many digits, and anything but a digit after it.
    private static func number(_ scanner: inout ByteScanner, digits: ClosedRange<Int>) -> Int? {
        var copy = scanner
        let found = copy.read(while: \.isDigit)
        return digits.contains(found.count) ? scanner.number(digits: found.count) : nil
    }

    private static func month(_ token: Substring.UTF8View.SubSequence) -> Int? {
        let word = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return months.firstIndex(of: word).map { $0 + 1 }
    }
}
