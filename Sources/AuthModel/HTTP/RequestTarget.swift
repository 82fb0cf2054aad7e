import AuthWire

/// The URL of a caller's own request: below the environment's base URL, or elsewhere at the same origin. Never at another
/// origin, because the request carries the session's token (RFC 6454 §5).
struct RequestTarget: Equatable {
    /// Absolute, with its query.
    let url: String

    /// Values of one name in a query.
    private static let maxValues = 256

    /// - Parameters:
    ///   - path: begins with `/`, or is a whole URL, or is empty for the base URL itself; may have a query.
    ///   - query: strings, numbers, booleans, and lists of them, appended to the query of `path`.
    init(path: String, query: JSONObject, base: String) throws(AgentError) {
        guard !path.utf8.contains(UInt8(ascii: "#")) else {
            throw Self.refused("A path must not have a fragment ('#'): servers never receive it.")
        }
        let halves = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let place = try Self.place(String(halves.first ?? ""), base: base)
        var parts: [String] = []
        if halves.count > 1, !halves[1].isEmpty {
            guard halves[1].utf8.allSatisfy({ $0.isUnreserved || "!$&'()*+,;=:@/?%[]".utf8.contains($0) }) else {
                throw Self.refused("The path's query must be percent-encoded (RFC 3986 §3.4).")
            }
            parts.append(String(halves[1]))
        }
        for (name, value) in query {
            for text in try Self.texts(value, of: name) {
                parts.append(PercentEncoding.encode(name) + "=" + PercentEncoding.encode(text))
            }
        }
        url = place + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    }

    private static func place(_ text: String, base: String) throws(AgentError) -> String {
        if text.isEmpty { return base }
        guard let scheme = text.utf8.firstIndex(of: UInt8(ascii: ":")), text[scheme...].hasPrefix("://") else {
            guard text.hasPrefix("/"), !text.hasPrefix("//"), PercentEncoding.isPath(text) else {
                throw refused(
                    "A path must begin with one '/', be percent-encoded, and have no '.' or '..' segment (RFC 3986 §3.3); "
                        + "an empty path is the base URL.")
            }
            // The URL of a generated profile may have a slash at its end.
            return (base.hasSuffix("/") ? String(base.dropLast()) : base) + text
        }
        let rest = text[text.index(scheme, offsetBy: 3)...]
        // A byte: with a mark after it, the slash is another character.
        let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        guard let asked = Origin(of: String(text[..<slash])), let own = Origin(of: base), asked == own else {
            throw AgentError(
                .denied,
                "A session's token is sent only to its own provider (\(Origin(of: base)?.text ?? base)), not to "
                    + "\(text[..<slash].prefix(256)). Nothing was sent.", cause: "other_origin")
        }
        let path = String(rest[slash...])
        guard PercentEncoding.isPath(path) else { throw refused("The URL's path must be percent-encoded.") }
        return own.text + path
    }

    private static func texts(_ value: JSON, of name: String) throws(AgentError) -> [String] {
        if let elements = value.arrayValue, elements.count <= maxValues {
            var texts: [String] = []
            for element in elements {
                guard let text = text(element) else { throw unsupportedValue(name) }
                texts.append(text)
            }
            return texts
        }
        guard let text = text(value) else { throw unsupportedValue(name) }
        return [text]
    }

    private static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text
        case .bool, .integer, .unsigned, .number: value.text()
        case .null, .array, .object: nil
        }
    }

    private static func unsupportedValue(_ name: String) -> AgentError {
        refused("The query's \(String(name.prefix(64))) must be a string, number or boolean, or a list of them.")
    }

    private static func refused(_ words: String) -> AgentError {
        AgentError(.validation, words + " Nothing was sent.", cause: "path")
    }
}
