/// ASCII classes, independent of the locale.
extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    package var isLowercase: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    package var isUppercase: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }

    var isLetter: Bool { isLowercase || isUppercase }

    var isHexDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self)
    }

    /// Printable, and not a space.
    package var isVisible: Bool { (0x21...0x7E).contains(self) }

    /// Part of a scope (RFC 6749 §3.3) or of a DPoP nonce (RFC 9449 §8.1).
    var isScopeCharacter: Bool { isVisible && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\") }

    /// What never needs percent-encoding (RFC 3986 §2.3).
    var isUnreserved: Bool { isLetter || isDigit || "-._~".utf8.contains(self) }

    /// Part of a token (RFC 9110 §5.6.2).
    package var isTokenCharacter: Bool { isLetter || isDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}
