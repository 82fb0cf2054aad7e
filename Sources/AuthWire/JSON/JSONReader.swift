/// Implements `JSON(parsing:)`: strict RFC 8259, UTF-8 without a byte order mark.
///
/// It reads at most ``Limits/jsonNesting`` levels, so that no text can exhaust the stack.
struct JSONReader {
    private var offset = 0
    private var depth = 0
    private let maxValues: Int
    private var valuesLeft: Int

    private init(values: Int) {
        maxValues = values
        valuesLeft = values
    }

    /// - Parameter values: the limit. A megabyte of text can have half a million values, which take thirty times its size.
    static func read(_ bytes: Span<UInt8>, values: Int = .max) throws(JSONError) -> JSON {
        var values = values
        return try read(bytes, subtractingFrom: &values)
    }

    /// - Parameter values: the limit; the values that were read are subtracted, even if the text is refused.
    static func read(_ bytes: Span<UInt8>, subtractingFrom values: inout Int) throws(JSONError) -> JSON {
        var reader = JSONReader(values: values)
        defer { values = reader.valuesLeft }
        reader.skipSpace(bytes)
        let value = try reader.value(bytes)
        reader.skipSpace(bytes)
        guard reader.offset == bytes.count else { throw reader.problem("unexpected text after the value") }
        return value
    }

    private mutating func value(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        guard offset < bytes.count else { throw problem("a value is missing") }
        guard valuesLeft > 0 else {
            throw JSONError(offset: offset, reason: "more than \(maxValues) values", isTooLarge: true)
        }
        valuesLeft -= 1
        switch bytes[offset] {
        case .quote:
            return .string(try string(bytes))
        case UInt8(ascii: "{"):
            return try object(bytes)
        case UInt8(ascii: "["):
            return try array(bytes)
        case UInt8(ascii: "t"):
            return try word("true", .bool(true), bytes)
        case UInt8(ascii: "f"):
            return try word("false", .bool(false), bytes)
        case UInt8(ascii: "n"):
            return try word("null", .null, bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            var scan = JSONNumberScan(start: offset)
            let number = try scan.read(bytes)
            offset = scan.offset
            return number
        default:
            throw problem("expected a JSON value")
        }
    }

    private mutating func object(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        try enter()
        skipSpace(bytes)
        if consume(UInt8(ascii: "}"), bytes) {
            depth -= 1
            return .object(JSONObject())
        }
        var object = JSONObject(reserving: 4)
        repeat {
            skipSpace(bytes)
            guard offset < bytes.count, bytes[offset] == .quote else { throw problem("expected a key in quotes") }
            let key = try string(bytes)
            skipSpace(bytes)
            guard consume(UInt8(ascii: ":"), bytes) else { throw problem("expected ':' after a key") }
            skipSpace(bytes)
            object[key] = try value(bytes)
            skipSpace(bytes)
        } while consume(UInt8(ascii: ","), bytes)
        guard consume(UInt8(ascii: "}"), bytes) else { throw problem("expected ',' or '}'") }
        depth -= 1
        return .object(object)
    }

    private mutating func array(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        try enter()
        skipSpace(bytes)
        if consume(UInt8(ascii: "]"), bytes) {
            depth -= 1
            return .array([])
        }
        var elements: [JSON] = []
        repeat {
            skipSpace(bytes)
            elements.append(try value(bytes))
            skipSpace(bytes)
        } while consume(UInt8(ascii: ","), bytes)
        guard consume(UInt8(ascii: "]"), bytes) else { throw problem("expected ',' or ']'") }
        depth -= 1
        return .array(elements)
    }

    private mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        var scan = JSONStringScan(start: offset)
        let text = try scan.read(bytes)
        offset = scan.offset
        return text
    }

    private mutating func word(_ text: StaticString, _ value: JSON, _ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        let end = offset + text.utf8CodeUnitCount
        let fits =
            end <= bytes.count
            && text.withUTF8Buffer { letters in
                letters.indices.allSatisfy { unsafe letters[$0] == bytes[offset + $0] }
            }
        guard fits else { throw problem("expected a JSON value") }
        offset = end
        return value
    }

    /// Skips the opening bracket.
    private mutating func enter() throws(JSONError) {
        guard depth < Limits.jsonNesting else { throw problem("nested deeper than \(Limits.jsonNesting) levels") }
        depth += 1
        offset += 1
    }

    private mutating func consume(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    private func problem(_ reason: String) -> JSONError { JSONError(offset: offset, reason: reason) }
}
