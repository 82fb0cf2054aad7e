/// Lengths of time as text (`Span` of the full program).
enum Span {
    private static let longest: Double = 1e12

    /// The two largest units that are not zero: `45 s`, `9 min`, `1 h 5 min`, `3 d 2 h`.
    static func text(seconds: Double) -> ByteString {
        let whole = Int(max(0, min(seconds, longest)))
        let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60)
        var text = ByteString()
        switch whole {
        case ..<60: text.append(whole, unit: " s")
        case ..<3600:
            text.append(minutes, unit: " min")
            if whole < 600, whole % 60 > 0 { text.append(second: whole % 60, unit: " s") }
        case ..<86_400:
            text.append(hours, unit: " h")
            if minutes > 0 { text.append(second: minutes, unit: " min") }
        default:
            text.append(days, unit: " d")
            if hours > 0 { text.append(second: hours, unit: " h") }
        }
        return text
    }
}

extension ByteString {
    fileprivate mutating func append(_ number: Int, unit: StaticString) {
        append(number)
        append(unit)
    }

    fileprivate mutating func append(second number: Int, unit: StaticString) {
        append(" ")
        append(number, unit: unit)
    }
}
