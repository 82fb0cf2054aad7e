import AuthWire

/// The members of a message that the transport needs, found without decoding the rest: JSON of any depth, with any numbers and
/// escapes.
struct MessageOutline {
    /// Objects with `jsonrpc`, `id` and `method`, and an empty `result` or `error`; an array for a batch. If the text
    /// is not valid: what is before the first mistake.
    private(set) var json: JSON?
    private(set) var isValid = false

    init(_ text: [UInt8]) {
        var scan = Scan(bytes: text)
        scan.skipSpace()
        if scan.next == UInt8(ascii: "[") {
            var elements: [JSON] = []
            let isWhole = scan.list { scan in
                var members: JSONObject = [:]
                guard Self.readObject(&scan, into: &members) else { return false }
                elements.append(.object(members))
                return true
            }
            guard isWhole else { return }
            json = .array(elements)
        } else {
            var members: JSONObject = [:]
            let isWhole = Self.readObject(&scan, into: &members)
            json = .object(members)
            guard isWhole else { return }
        }
        scan.skipSpace()
        isValid = scan.next == nil && String(validating: text, as: UTF8.self) != nil
    }

    /// Not of a batch.
    var id: RPCID? { json?["id"].flatMap(RPCID.init) }

    var isResponse: Bool {
        json?["method"] == nil && json?["id"] != nil && (json?["result"] != nil || json?["error"] != nil)
    }

    private static func readObject(_ scan: inout Scan, into members: inout JSONObject) -> Bool {
        guard scan.accept(UInt8(ascii: "{")) else { return false }
        scan.skipSpace()
        if scan.accept(UInt8(ascii: "}")) { return true }
        repeat {
            scan.skipSpace()
            let start = scan.offset
            guard scan.string() else { return false }
            let key = String(decoding: scan.bytes[(start + 1)..<(scan.offset - 1)], as: UTF8.self)
            guard scan.colon() else { return false }
            let valueStart = scan.offset
            guard scan.value() else { return false }
            switch key {
            case "jsonrpc", "id", "method":
                // Two could be read differently by others.
                guard members[key] == nil, let value = try? JSON(parsing: scan.bytes[valueStart..<scan.offset]) else {
                    return false
                }
                members[key] = value
            case "result": members[key] = [:]
            case "error": members[key] = scan.bytes[valueStart] == UInt8(ascii: "{") ? [:] : .null
            default: break
            }
            scan.skipSpace()
        } while scan.accept(UInt8(ascii: ","))
        return scan.accept(UInt8(ascii: "}"))
    }
}

/// Passes over JSON (RFC 8259). It holds nothing but its place and one byte for each open list.
private struct Scan {
    let bytes: [UInt8]
    var offset = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    mutating func accept(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    /// An array whose elements are read by `element`.
    mutating func list(_ element: (inout Scan) -> Bool) -> Bool {
        guard accept(UInt8(ascii: "[")) else { return false }
        skipSpace()
        if accept(UInt8(ascii: "]")) { return true }
        repeat {
            skipSpace()
            guard element(&self) else { return false }
            skipSpace()
        } while accept(UInt8(ascii: ","))
        return accept(UInt8(ascii: "]"))
    }

    /// Between a key and its value.
    mutating func colon() -> Bool {
        skipSpace()
        guard accept(UInt8(ascii: ":")) else { return false }
        skipSpace()
        return true
    }

    /// One value. The depth is not limited by the stack.
    mutating func value() -> Bool {
        var ends: [UInt8] = []
        repeat {
            skipSpace()
            guard let first = next else { return false }
            switch first {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                offset += 1
                // ASCII has each end two places after its beginning.
                ends.append(first + 2)
                skipSpace()
                if next != first + 2 {
                    if first == UInt8(ascii: "{"), !key() { return false }
                    continue
                }
            case UInt8(ascii: "\""): guard string() else { return false }
            case UInt8(ascii: "t"): guard word("true") else { return false }
            case UInt8(ascii: "f"): guard word("false") else { return false }
            case UInt8(ascii: "n"): guard word("null") else { return false }
            default: guard number() else { return false }
            }
            while let end = ends.last {
                skipSpace()
                if accept(end) {
                    ends.removeLast()
                    continue
                }
                guard accept(UInt8(ascii: ",")) else { return false }
                if end == UInt8(ascii: "}"), !key() { return false }
                break
            }
        } while !ends.isEmpty
        return true
    }

    private mutating func key() -> Bool {
        skipSpace()
        return string() && colon()
    }

    mutating func string() -> Bool {
        guard accept(UInt8(ascii: "\"")) else { return false }
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case ..<0x20: return false
            case UInt8(ascii: "\\"): guard escape() else { return false }
            default: break
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard let byte = next else { return false }
        offset += 1
        guard byte == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(byte) }
        guard bytes.count - offset >= 4 else { return false }
        defer { offset += 4 }
        return bytes[offset..<(offset + 4)].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    private mutating func word(_ text: String) -> Bool {
        guard bytes[offset...].starts(with: text.utf8) else { return false }
        offset += text.utf8.count
        return true
    }

    private mutating func number() -> Bool {
        _ = accept(UInt8(ascii: "-"))
        guard accept(UInt8(ascii: "0")) || digits() else { return false }
        if accept(UInt8(ascii: ".")), !digits() { return false }
        if accept(UInt8(ascii: "e")) || accept(UInt8(ascii: "E")) {
            if !accept(UInt8(ascii: "+")) { _ = accept(UInt8(ascii: "-")) }
            return digits()
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = offset
        while let byte = next, (0x30...0x39).contains(byte) { offset += 1 }
        return offset > start
    }
}
