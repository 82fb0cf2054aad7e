/// A text with placeholders: `{name}`, `{user.id}`; `{{` and `}}` are literal braces.
package struct Template: Sendable, Equatable {
    private enum Part: Sendable, Equatable {
        case literal(String)
        case placeholder(String)
    }

    private var parts: [Part]

    /// - Throws: if a brace has no partner, or a placeholder is not a name (letters, digits, `_`, at most one dot, beginning
    ///   with a letter).
    package init(parsing text: String) throws(TemplateError) {
        parts = []
        var literal = ""
        var rest = Substring(text)
        while let character = rest.popFirst() {
            switch character {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                rest.removeFirst()
                literal.append(character)
            case "{":
                guard let end = rest.firstIndex(of: "}") else { throw TemplateError(reason: "a '{' has no '}'") }
                let name = String(rest[..<end])
                guard Self.isName(name) else { throw TemplateError(reason: "'{\(name)}' is not a placeholder") }
                rest = rest[rest.index(after: end)...]
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
                parts.append(.placeholder(name))
            case "}":
                throw TemplateError(reason: "a '}' has no '{'; write '}}' for the brace itself")
            default:
                literal.append(character)
            }
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
    }

    /// A literal text.
    package init(literal text: String) {
        parts = text.isEmpty ? [] : [.literal(text)]
    }

    /// As it is written in a profile.
    package var text: String {
        parts.map { part in
            switch part {
            case .literal(let text):
                text.map { "{}".contains($0) ? "\($0)\($0)" : String($0) }.joined()
            case .placeholder(let name): "{\(name)}"
            }
        }.joined()
    }

    /// The name of the placeholder, if the text is nothing else.
    package var solePlaceholder: String? {
        guard parts.count == 1, case .placeholder(let name) = parts[0] else { return nil }
        return name
    }

    /// In their order.
    package var placeholders: [String] {
        parts.compactMap { if case .placeholder(let name) = $0 { name } else { nil } }
    }

    /// The text between placeholders.
    package var literals: [String] {
        parts.compactMap { if case .literal(let text) = $0 { text } else { nil } }
    }

    /// The text with all values; `nil` if one is missing.
    /// - Parameter escaping: applied to values, never to literals.
    package func fill(_ values: TemplateValues, escaping: (String) -> String = { $0 }) -> String? {
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .placeholder(let name):
                guard let value = values[name] else { return nil }
                text += escaping(value.reveal())
            }
        }
        return text
    }

    private static func isName(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return words.count <= 2
            && words.allSatisfy { word in
                guard let first = word.first, first.isLetter else { return false }
                return word.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
            }
    }
}

package struct TemplateError: Error, Sendable, Equatable {
    package let reason: String
}
