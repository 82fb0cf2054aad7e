/// A date in a provider's response: RFC 3339 §5.6, with the suffixes of RFC 9557 (`[America/Los_Angeles]`).
///
/// The offset defines the instant; only the form of the zone ID is checked, because resolving it requires a database. A time
/// without an offset is rejected. Seconds may be missing, as Java's `ZonedDateTime` omits zeros.
package enum TimestampParser {
    /// Digits of a fraction that are used; a double has no more for today's dates.
    private static let fractionDigits = 9

    package static func parse(_ text: String) -> WallTime? {
        var scanner = ByteScanner(text)
        guard let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2), scanner.skip("-"),
            let day = scanner.number(digits: 2), scanner.skip("Tt "),
            let hour = scanner.number(digits: 2), scanner.skip(":"), let minute = scanner.number(digits: 2)
        else { return nil }
        var date = CivilDate(year: year, month: month, day: day, hour: hour, minute: minute)
        var fraction = 0.0
        if scanner.skip(":") {
            guard let second = scanner.number(digits: 2) else { return nil }
            date.second = second
            if scanner.skip(".") {
                let digits = scanner.read(while: \.isDigit)
                guard let value = Double("0." + String(decoding: digits.prefix(fractionDigits), as: UTF8.self)),
                    !digits.isEmpty
                else { return nil }
                fraction = value
            }
        }
        guard date.isReal, let offset = offset(&scanner), skipSuffixes(&scanner), scanner.isAtEnd else { return nil }
        return WallTime(unixSeconds: Double(date.unixSeconds - offset) + fraction)
    }

    /// Seconds to subtract for UTC.
    private static func offset(_ scanner: inout ByteScanner) -> Int? {
        if scanner.skip("Zz") { return 0 }
        let isWest = scanner.next == UInt8(ascii: "-")
        guard scanner.skip("+-"), let hours = scanner.number(digits: 2), scanner.skip(":"),
            let minutes = scanner.number(digits: 2), hours <= 23, minutes <= 59
        else { return nil }
        return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
    }

    /// A zone, then tags. A critical tag (`!`, RFC 9557 §3.3) is refused: none is supported.
    private static func skipSuffixes(_ scanner: inout ByteScanner) -> Bool {
        while scanner.skip("[") {
            let isCritical = scanner.skip("!")
            let suffix = scanner.read { $0.isLetter || $0.isDigit || "/_+-.:=".utf8.contains($0) }
            let isTag = suffix.contains(UInt8(ascii: "="))
            guard !suffix.isEmpty, !(isCritical && isTag), scanner.skip("]") else { return false }
        }
        return true
    }
}
