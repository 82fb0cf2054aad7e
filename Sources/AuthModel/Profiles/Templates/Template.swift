import AuthWire

/// A text with placeholders: `{name}`, `{user.id}`, `{name:filter}`; `{{` and `}}` are literal braces.
package struct Template: Sendable, Equatable {
    private enum Part: Sendable, Equatable {
        case literal(String)
        case placeholder(Placeholder)
    }

    /// A value's name, and what is made of the value, from left to right.
    struct Placeholder: Sendable, Equatable {
        let name: String
        var filters: [TemplateFilter] = []

        /// `nil` if there is no value.
        func text(_ values: TemplateValues) -> String? {
            values[name].map { value in filters.reduce(value.reveal()) { $1.apply($0) } }
        }
    }

    private var parts: [Part]

    /// - Throws: if a brace has no partner, or a placeholder is not a name (letters, digits, `_`, at most one dot, beginning
    ///   with a letter) with filters.
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
                let placeholder = try Self.placeholder(rest[..<end])
                rest = rest[rest.index(after: end)...]
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
                parts.append(.placeholder(placeholder))
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
            case .placeholder(let found): "{\(([found.name] + found.filters.map(\.rawValue)).joined(separator: ":"))}"
            }
        }.joined()
    }

    /// The name of the placeholder, if the text is nothing else: its value need not be text.
    package var solePlaceholder: String? {
        guard parts.count == 1, case .placeholder(let found) = parts[0], found.filters.isEmpty else { return nil }
        return found.name
    }

    /// The names of the placeholders, in their order.
    package var placeholders: [String] { values.map(\.name) }

    /// The same with their filters.
    var values: [Placeholder] {
        parts.compactMap { if case .placeholder(let found) = $0 { found } else { nil } }
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
            case .placeholder(let placeholder):
                guard let value = placeholder.text(values) else { return nil }
                text += escaping(value)
            }
        }
        return text
    }

    /// With this text instead of each value, whatever its filters.
    package func filled(with text: String) -> String {
        parts.map { if case .literal(let literal) = $0 { literal } else { text } }.joined()
    }

    private static func placeholder(_ text: Substring) throws(TemplateError) -> Placeholder {
        let words = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard isName(words[0]) else { throw TemplateError(reason: "'{\(text)}' is not a placeholder") }
        var placeholder = Placeholder(name: words[0])
        for word in words.dropFirst() {
            guard let filter = TemplateFilter(rawValue: word) else {
                throw TemplateError(
                    reason: "the unknown filter \(word)",
                    expected: Suggestion.expected(insteadOf: word, among: TemplateFilter.allCases.map(\.rawValue)))
            }
            placeholder.filters.append(filter)
        }
        return placeholder
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
    package var expected = "text with {placeholders}, and {{ or }} for a brace"
}
