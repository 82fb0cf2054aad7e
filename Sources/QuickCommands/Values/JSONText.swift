/// JSON in the form in which the agent writes it (`JSONWriter` in AuthWire): on one line, without spaces between values, with no
/// more escapes than needed. The full program prints such a value as it is, if all of it is ASCII.
///
/// Any other form is left to the full program. What follows an accepted value is ignored.
enum JSONText {
    /// As deep as the agent's own limit allows, or less.
    private static let deepest = 32
    /// A larger whole number may be written in another form.
    private static let longestWhole = 15
    /// The shortest text of any double has no more digits (IEEE 754).
    private static let longestNumber = 17

    /// Where the value ends that begins at a place; `nil` for another form.
    static func end(of text: Text, from start: Int, depth: Int = 0) -> Int? {
        switch text[start] {
        case .quote?: return endOfString(text, start)
        case UInt8(ascii: "{")?: return endOfList(text, start, closing: UInt8(ascii: "}"), depth)
        case UInt8(ascii: "[")?: return endOfList(text, start, closing: UInt8(ascii: "]"), depth)
        case UInt8(ascii: "t")?: return endOfWord(text, start, "true")
        case UInt8(ascii: "f")?: return endOfWord(text, start, "false")
        case UInt8(ascii: "n")?: return endOfWord(text, start, "null")
        default: return endOfNumber(text, start)
        }
    }

    /// An object or an array.
    private static func endOfList(_ text: Text, _ start: Int, closing: UInt8, _ depth: Int) -> Int? {
        guard depth < deepest else { return nil }
        var place = start + 1
        if text[place] == closing { return place + 1 }
        while true {
            if closing == UInt8(ascii: "}") {
                guard text[place] == .quote, let colon = endOfString(text, place), text[colon] == .colon else {
                    return nil
                }
                place = colon + 1
            }
            guard let end = end(of: text, from: place, depth: depth + 1) else { return nil }
            if text[end] == closing { return end + 1 }
            guard text[end] == .comma else { return nil }
            place = end + 1
        }
    }

    private static func endOfWord(_ text: Text, _ start: Int, _ word: StaticString) -> Int? {
        text.dropping(start).starts(with: word) ? start + word.utf8CodeUnitCount : nil
    }

    /// Printable ASCII, and the escapes that RFC 8259 §7 requires.
    private static func endOfString(_ text: Text, _ start: Int) -> Int? {
        var place = start + 1
        while let byte = text[place], byte >= 0x20, byte <= 0x7E {
            switch byte {
            case .quote: return place + 1
            case .backslash:
                guard let length = lengthOfEscape(text, place) else { return nil }
                place += length
            default: place += 1
            }
        }
        return nil
    }

    private static func lengthOfEscape(_ text: Text, _ start: Int) -> Int? {
        switch text[start + 1] {
        case .quote?, .backslash?, UInt8(ascii: "b")?, UInt8(ascii: "f")?, UInt8(ascii: "n")?, UInt8(ascii: "r")?,
            UInt8(ascii: "t")?:
            return 2
        default: break
        }
        // Other control characters. Those above have shorter escapes.
        guard text.dropping(start).starts(with: "\\u00"), let high = text[start + 4], let low = text[start + 5],
            high == UInt8(ascii: "0") || high == UInt8(ascii: "1"),
            low.isDigit || low >= .firstLetter && low <= .lastHex
        else { return nil }
        let hasShorter =
            high == UInt8(ascii: "0")
            && (low == UInt8(ascii: "8") || low == UInt8(ascii: "9") || low == .firstLetter
                || low == UInt8(ascii: "c") || low == UInt8(ascii: "d"))
        return hasShorter ? nil : 6
    }

    /// Without an exponent, which only very large and very small numbers have.
    private static func endOfNumber(_ text: Text, _ start: Int) -> Int? {
        let isNegative = text[start] == UInt8(ascii: "-")
        let first = isNegative ? start + 1 : start
        let point = endOfDigits(text, first)
        let isZero = text[first] == .zero
        guard point > first, point - first <= longestWhole, !isZero || point == first + 1 else { return nil }
        guard text[point] == UInt8(ascii: ".") else {
            // Minus zero is `-0.0`.
            return isNegative && isZero || text[point].isExponent ? nil : point
        }
        let end = endOfDigits(text, point + 1)
        let places = end - point - 1
        guard places > 0, places + point - first <= longestNumber, !text[end].isExponent else { return nil }
        // No zeros at its end, except in `3.0`, and below 0.0001 there is an exponent.
        guard places == 1 || text[end - 1] != .zero else { return nil }
        return isZero && text.dropping(point + 1).starts(with: "0000") ? nil : end
    }

    private static func endOfDigits(_ text: Text, _ start: Int) -> Int {
        var place = start
        while let byte = text[place], byte.isDigit { place += 1 }
        return place
    }
}

extension Optional<UInt8> {
    fileprivate var isExponent: Bool { self == UInt8(ascii: "e") || self == UInt8(ascii: "E") }
}

extension UInt8 {
    static var backslash: UInt8 { UInt8(ascii: "\\") }
    static var colon: UInt8 { UInt8(ascii: ":") }
    static var comma: UInt8 { UInt8(ascii: ",") }
    static var space: UInt8 { UInt8(ascii: " ") }
    static var zero: UInt8 { UInt8(ascii: "0") }
    fileprivate static var firstLetter: UInt8 { UInt8(ascii: "a") }
    fileprivate static var lastHex: UInt8 { UInt8(ascii: "f") }

    var isDigit: Bool { self >= .zero && self <= UInt8(ascii: "9") }
}
