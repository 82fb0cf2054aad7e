/// Reads one number (RFC 8259 §6).
struct JSONNumberScan {
    private let start: Int
    private(set) var offset: Int

    init(start: Int) {
        self.start = start
        self.offset = start
    }

    /// - Throws: even for a number that is too large for a double. One that is too close to zero becomes zero.
    mutating func read(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        let negative = bytes[offset] == UInt8(ascii: "-")
        if negative { offset += 1 }
        let (whole, overflow) = try wholePart(bytes)
        let fraction = try fractionPart(bytes)
        let exponent = try exponentPart(bytes)
        if !fraction, !exponent, !overflow {
            if !negative { return JSON(whole) }
            // Minus zero is a double, because a whole number cannot represent it.
            if whole > 0, let value = Int64(exactly: -Int128(whole)) { return .integer(value) }
        }
        return .number(try double(bytes))
    }

    private mutating func wholePart(_ bytes: Span<UInt8>) throws(JSONError) -> (value: UInt64, overflow: Bool) {
        let first = offset
        var value: UInt64 = 0
        var overflow = false
        while offset < bytes.count, let digit = digit(bytes[offset]) {
            let (scaled, over) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = scaled.addingReportingOverflow(UInt64(digit))
            overflow = overflow || over || carry
            value = sum
            offset += 1
        }
        guard offset > first else { throw problem("expected a digit") }
        guard bytes[first] != UInt8(ascii: "0") || offset == first + 1 else {
            throw JSONError(offset: first, reason: "a number must not have a leading zero")
        }
        return (value, overflow)
    }

    private mutating func fractionPart(_ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ".") else { return false }
        offset += 1
        try digits(bytes)
        return true
    }

    private mutating func exponentPart(_ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        guard offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") else { return false }
        offset += 1
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-") {
            offset += 1
        }
        try digits(bytes)
        return true
    }

    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONError) {
        let first = offset
        while offset < bytes.count, digit(bytes[offset]) != nil { offset += 1 }
        guard offset > first else { throw problem("expected a digit") }
    }

    private func digit(_ byte: UInt8) -> UInt8? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? value : nil
    }

    private func double(_ bytes: Span<UInt8>) throws(JSONError) -> Double {
        let text = String(bytes.extracting(start..<offset))
        guard let text, let value = Double(text), value.isFinite else {
            throw JSONError(offset: start, reason: "a number is too large for 64 bits")
        }
        return value
    }

    private func problem(_ reason: String) -> JSONError { JSONError(offset: offset, reason: reason) }
}

extension String {
    /// `nil` unless the bytes are UTF-8.
    init?(_ bytes: Span<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes) else { return nil }
        self.init(copying: text)
    }
}
