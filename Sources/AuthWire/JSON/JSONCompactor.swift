/// Checks a text as strictly as ``JSONReader`` and copies it without the spaces between its values. It creates no values, so
/// it needs no more memory than the text. Equal keys are all copied.
struct JSONCompactor {
    private var offset = 0
    private var depth = 0
    private var text: [UInt8] = []

    static func compact(_ bytes: Span<UInt8>) throws(JSONError) -> [UInt8] {
        var compactor = JSONCompactor()
        compactor.text.reserveCapacity(bytes.count)
        compactor.skipSpace(bytes)
        try compactor.value(bytes)
        compactor.skipSpace(bytes)
        guard compactor.offset == bytes.count else { throw compactor.problem("unexpected text after the value") }
        return compactor.text
    }

    private mutating func value(_ bytes: Span<UInt8>) throws(JSONError) {
        guard offset < bytes.count else { throw problem("a value is missing") }
        switch bytes[offset] {
        case .quote:
            try string(bytes)
        case UInt8(ascii: "{"):
            try list(until: UInt8(ascii: "}"), bytes, hasKeys: true)
        case UInt8(ascii: "["):
            try list(until: UInt8(ascii: "]"), bytes, hasKeys: false)
        case UInt8(ascii: "t"):
            try word("true", bytes)
        case UInt8(ascii: "f"):
            try word("false", bytes)
        case UInt8(ascii: "n"):
            try word("null", bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            var scan = JSONNumberScan(start: offset)
            _ = try scan.read(bytes)
            copy(to: scan.offset, bytes)
        default:
            throw problem("expected a JSON value")
        }
    }

    /// An object or an array.
    private mutating func list(until end: UInt8, _ bytes: Span<UInt8>, hasKeys: Bool) throws(JSONError) {
        guard depth < Limits.jsonNesting else { throw problem("nested deeper than \(Limits.jsonNesting) levels") }
        depth += 1
        copy(to: offset + 1, bytes)
        skipSpace(bytes)
        if isNext(end, bytes) {
            depth -= 1
            return copy(to: offset + 1, bytes)
        }
        while true {
            skipSpace(bytes)
            if hasKeys {
                guard isNext(.quote, bytes) else { throw problem("expected a key in quotes") }
                try string(bytes)
                skipSpace(bytes)
                guard isNext(UInt8(ascii: ":"), bytes) else { throw problem("expected ':' after a key") }
                copy(to: offset + 1, bytes)
                skipSpace(bytes)
            }
            try value(bytes)
            skipSpace(bytes)
            guard isNext(UInt8(ascii: ","), bytes) else { break }
            copy(to: offset + 1, bytes)
        }
        guard isNext(end, bytes) else { throw problem("expected ',' or '\(Character(Unicode.Scalar(end)))'") }
        depth -= 1
        copy(to: offset + 1, bytes)
    }

    private mutating func string(_ bytes: Span<UInt8>) throws(JSONError) {
        var scan = JSONStringScan(start: offset)
        try scan.check(bytes)
        copy(to: scan.offset, bytes)
    }

    private mutating func word(_ word: StaticString, _ bytes: Span<UInt8>) throws(JSONError) {
        let end = offset + word.utf8CodeUnitCount
        let fits =
            end <= bytes.count
            && word.withUTF8Buffer { letters in
                letters.indices.allSatisfy { unsafe letters[$0] == bytes[offset + $0] }
            }
        guard fits else { throw problem("expected a JSON value") }
        copy(to: end, bytes)
    }

    private mutating func copy(to end: Int, _ bytes: Span<UInt8>) {
        unsafe bytes.extracting(offset..<end).withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
        offset = end
    }

    private func isNext(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool { offset < bytes.count && bytes[offset] == byte }

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
