/// Implements `JSON.serialized()`. Escapes no more than RFC 8259 §7 requires. The text has no raw control characters, so a
/// compact value is always one line.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let indented: Bool
    private var level = 0

    init(indented: Bool) {
        self.indented = indented
        bytes.reserveCapacity(256)
    }

    mutating func write(_ value: JSON) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(value.description)
        case .unsigned(let value): append(value.description)
        // `description` is the shortest text that reads back as the same double.
        case .number(let value): append(value.isFinite ? value.description : "null")
        case .string(let value): write(value)
        case .array(let values): write(values)
        case .object(let object): write(object)
        }
    }

    private mutating func write(_ values: [JSON]) {
        bytes.append(UInt8(ascii: "["))
        level += 1
        var first = true
        for value in values {
            separate(&first)
            write(value)
        }
        close(UInt8(ascii: "]"), empty: first)
    }

    private mutating func write(_ object: JSONObject) {
        bytes.append(UInt8(ascii: "{"))
        level += 1
        var first = true
        for (key, value) in object {
            separate(&first)
            write(key)
            bytes.append(UInt8(ascii: ":"))
            if indented { bytes.append(UInt8(ascii: " ")) }
            write(value)
        }
        close(UInt8(ascii: "}"), empty: first)
    }

    private mutating func write(_ text: String) {
        bytes.append(.quote)
        let raw = text.utf8Span.span
        var position = 0
        while position < raw.count {
            let end = PlainRun.end(in: raw, from: position)
            append(raw.extracting(position..<end))
            if end < raw.count {
                if Self.needsEscape(raw[end]) { escape(raw[end]) } else { bytes.append(raw[end]) }
            }
            position = end + 1
        }
        bytes.append(.quote)
    }

    private static func needsEscape(_ byte: UInt8) -> Bool { byte < 0x20 || byte == .quote || byte == .backslash }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(.backslash)
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case .quote, .backslash: bytes.append(byte)
        default:
            append(byte < 0x10 ? "u000" : "u00")
            append(String(byte, radix: 16))
        }
    }

    private mutating func append(_ text: String) { append(text.utf8Span.span) }

    private mutating func append(_ run: Span<UInt8>) {
        unsafe run.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    private mutating func separate(_ first: inout Bool) {
        if !first { bytes.append(UInt8(ascii: ",")) }
        first = false
        breakLine()
    }

    private mutating func close(_ bracket: UInt8, empty: Bool) {
        level -= 1
        if !empty { breakLine() }
        bytes.append(bracket)
    }

    private mutating func breakLine() {
        guard indented else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: level * 2))
    }
}
