/// The caching directives of a response (RFC 9111 §5.2).
package struct CacheControl: Sendable, Equatable {
    package var noStore = false
    /// Must be revalidated before use.
    package var noCache = false
    /// Must not be used when stale, not even without a network.
    package var mustRevalidate = false
    package var maxAge: Duration?

    package init(_ reply: HTTPResponse) {
        for field in reply.headers where field.name.lowercased() == "cache-control" {
            for directive in Self.directives(field.value) { apply(directive.name, directive.value) }
        }
    }

    private mutating func apply(_ name: String, _ value: String?) {
        switch name {
        case "no-store": noStore = true
        // With field names it restricts less (§5.2.2.4); applying it to the whole response is the safe side.
        case "no-cache": noCache = true
        case "must-revalidate": mustRevalidate = true
        case "max-age": maxAge = value.flatMap(Self.seconds) ?? .zero
        default: break
        }
    }

    /// A number that is too large counts as the largest (§1.2.2).
    package static func seconds(_ text: String) -> Duration? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return .seconds(min(Int(text) ?? Int.max, 1 << 31))
    }

    /// Split at commas outside quoted strings; names in lower case.
    private static func directives(_ field: String) -> [(name: String, value: String?)] {
        var parts: [[UInt8]] = [[]]
        var isQuoted = false
        for byte in field.utf8 {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: ","), !isQuoted {
                parts.append([])
            } else if byte != UInt8(ascii: "\"") {
                parts[parts.count - 1].append(byte)
            }
        }
        return parts.map { part in
            let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let texts = halves.map { String(decoding: $0, as: UTF8.self).withoutSpaceAround }
            return (texts.first?.lowercased() ?? "", texts.count > 1 ? texts[1] : nil)
        }
    }
}
