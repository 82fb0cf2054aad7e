import AuthWire

/// The `Link` field of a response (RFC 8288 §3), parsed as in its appendix B.2. Each byte is read once, and a malformed
/// part ends the link or the field.
struct LinkHeader {
    private var rest: Substring.UTF8View

    /// The target of the first link with this relation; relations are case-insensitive (§2.1). A link with an `anchor`
    /// is about another resource and is ignored (§3.2).
    /// - Parameter field: all `Link` fields of the response, joined with commas.
    static func target(of relation: String, in field: String) -> String? {
        var header = LinkHeader(rest: Substring(field).utf8)
        while let link = header.link() {
            guard !link.parameters.contains(where: { $0.name == "anchor" }),
                // Only the first `rel` counts (§3.3).
                let relations = link.parameters.first(where: { $0.name == "rel" })?.value
            else { continue }
            if relations.lowercased().split(whereSeparator: \.isWhitespace).contains(Substring(relation)) {
                return link.target
            }
        }
        return nil
    }

    private mutating func link() -> (target: String, parameters: [(name: String, value: String)])? {
        skip { Self.isSpace($0) || $0 == UInt8(ascii: ",") }
        guard rest.first == UInt8(ascii: "<") else { return nil }
        rest.removeFirst()
        let target = text { $0 == UInt8(ascii: ">") }
        guard rest.popFirst() != nil else { return nil }
        var parameters: [(name: String, value: String)] = []
        while true {
            skip(Self.isSpace)
            guard rest.first == UInt8(ascii: ";") else { break }
            rest.removeFirst()
            skip(Self.isSpace)
            let name = text { Self.isSpace($0) || "=;,".utf8.contains($0) }.lowercased()
            skip(Self.isSpace)
            var value = ""
            if rest.first == UInt8(ascii: "=") {
                rest.removeFirst()
                skip(Self.isSpace)
                value = rest.first == UInt8(ascii: "\"") ? quoted() : text { ";,".utf8.contains($0) }
            }
            if !name.isEmpty { parameters.append((name, value)) }
        }
        // Anything else is ignored up to the next link.
        skip { $0 != UInt8(ascii: ",") }
        return (target, parameters)
    }

    /// A quoted string (RFC 9110 §5.6.4). Without a closing quotation mark, it ends with the field.
    private mutating func quoted() -> String {
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") {
                if let next = rest.popFirst() { bytes.append(next) }
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func text(upTo isEnd: (UInt8) -> Bool) -> String {
        let end = rest.firstIndex(where: isEnd) ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        rest = rest.drop(while: isSkipped)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
