/// Reads one string (RFC 8259 §7). Raw bytes must be UTF-8, and escapes must name whole characters.
struct JSONStringScan {
    private let start: Int
    private(set) var offset: Int

    /// - Parameter start: the place of the opening quote.
    init(start: Int) {
        self.start = start
        self.offset = start + 1
    }

    mutating func read(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        offset = PlainRun.end(in: bytes, from: offset)
        if offset < bytes.count, bytes[offset] == .quote {
            let plain = bytes.extracting((start + 1)..<offset)
            offset += 1
            // Every byte is ASCII.
            return String(copying: unsafe UTF8Span(unchecked: plain, isKnownASCII: true))
        }
        let hasEscapes = try findEnd(bytes)
        let raw = bytes.extracting((start + 1)..<(offset - 1))
        let text: String
        do throws(UTF8.ValidationError) {
            text = String(copying: try UTF8Span(validating: raw))
        } catch {
            throw JSONError(offset: start + 1 + error.byteOffsets.lowerBound, reason: "a string is not UTF-8")
        }
        return hasEscapes ? try unescaped(raw) : text
    }

    /// Skips the string.
    mutating func check(_ bytes: Span<UInt8>) throws(JSONError) {
        let plainEnd = PlainRun.end(in: bytes, from: offset)
        guard plainEnd >= bytes.count || bytes[plainEnd] != .quote else {
            offset = plainEnd + 1
            return
        }
        _ = try read(bytes)
    }

    /// Skips the closing quote. Returns whether the string has escapes.
    private mutating func findEnd(_ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        var hasEscapes = false
        while offset < bytes.count {
            switch bytes[offset] {
            case .quote:
                offset += 1
                return hasEscapes
            case .backslash:
                hasEscapes = true
                offset += 2
            case ..<0x20:
                throw JSONError(offset: offset, reason: "a control character in a string must be escaped")
            case 0x80...:
                offset += 1
            default:
                offset = PlainRun.end(in: bytes, from: offset)
            }
        }
        throw JSONError(offset: start, reason: "a string has no end")
    }

    private func unescaped(_ raw: Span<UInt8>) throws(JSONError) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(raw.count)
        var position = 0
        while position < raw.count {
            guard raw[position] == .backslash else {
                text.append(raw[position])
                position += 1
                continue
            }
            let scalar = try escape(raw, &position)
            text.append(contentsOf: String(scalar).utf8)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The character that an escape names. Moves `position` past it.
    private func escape(_ raw: Span<UInt8>, _ position: inout Int) throws(JSONError) -> Unicode.Scalar {
        let begin = position
        // `findEnd` never stops between a backslash and the next byte.
        let letter = raw[position + 1]
        position += 2
        switch letter {
        case .quote, .backslash, UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(raw, &position, begin)
        default: throw problem("an unknown escape", begin)
        }
    }

    private func unicodeEscape(
        _ raw: Span<UInt8>, _ position: inout Int, _ begin: Int
    ) throws(JSONError) -> Unicode.Scalar {
        let first = try hex(raw, &position, begin)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, position + 1 < raw.count, raw[position] == .backslash,
            raw[position + 1] == UInt8(ascii: "u")
        else { throw problem("half of a surrogate pair", begin) }
        position += 2
        let second = try hex(raw, &position, begin)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw problem("half of a surrogate pair", begin) }
        return scalar
    }

    private func hex(_ raw: Span<UInt8>, _ position: inout Int, _ begin: Int) throws(JSONError) -> UInt32 {
        guard position + 4 <= raw.count else { throw problem("expected four hexadecimal digits", begin) }
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = raw[position]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: throw problem("expected four hexadecimal digits", begin)
            }
            position += 1
        }
        return value
    }

    private func problem(_ reason: String, _ position: Int) -> JSONError {
        JSONError(offset: start + 1 + position, reason: reason)
    }
}
