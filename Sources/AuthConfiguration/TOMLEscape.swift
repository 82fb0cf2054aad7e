import AuthWire

/// The escapes of a basic string (TOML 1.0.0, "String").
enum TOMLEscape {
    /// A text as a basic string, on one line.
    /// - Parameter isShown: whether invisible characters are escaped, too, as in a message.
    static func quoted(_ text: String, isShown: Bool = false) -> String {
        var result = "\""
        // Scalars: a quote with a combining mark is another character, but TOML still sees the quote.
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F || (isShown && VisibleText.isHidden(scalar)):
                let (letter, count) = scalar.value <= 0xFFFF ? ("u", 4) : ("U", 8)
                let digits = String(scalar.value, radix: 16)
                result += "\\" + letter + String(repeating: "0", count: count - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Reads what follows a backslash; `nil` if that is not an escape.
    static func read(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        switch rest.popFirst() {
        case UInt8(ascii: "b"): "\u{8}"
        case UInt8(ascii: "t"): "\t"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "f"): "\u{C}"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "\""): "\""
        case UInt8(ascii: "\\"): "\\"
        case UInt8(ascii: "u"): read(digits: 4, &rest)
        case UInt8(ascii: "U"): read(digits: 8, &rest)
        default: nil
        }
    }

    private static func read(digits count: Int, _ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        let digits = rest.prefix(count)
        guard digits.count == count, let value = UInt32(hexDigits: digits) else { return nil }
        rest = rest.dropFirst(count)
        return Unicode.Scalar(value)
    }
}

extension UInt32 {
    /// Digits only: `init(_:radix:)` would accept a sign.
    fileprivate init?(hexDigits digits: ArraySlice<UInt8>) {
        let isHex = digits.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
        guard isHex else { return nil }
        self.init(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
