import AuthWire

/// What a shell's prompt shows of a session: `[prompt] format` of authd.toml(5).
package struct PromptFormat: Sendable, Equatable {
    package enum Field: String, CaseIterable, Sendable {
        case session, user, state
    }

    package enum Part: Sendable, Equatable {
        case text(String)
        /// The text before a value is shown only if there is a value.
        case value(Field, after: String)
    }

    package static let standard = "{session}{:user}{!state}"
    private static let expected = "a text with {session}, {user} and {state}, and {{ and }} for braces"
    /// A prompt is one line.
    private static let longest = 200

    package let parts: [Part]

    /// `nil` if a brace is not a part of a field's name or doubled, or if there are control characters.
    package init?(_ text: String) {
        guard text.unicodeScalars.count <= Self.longest,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        var parts: [Part] = []
        var plain = ""
        var rest = Substring(text)
        while let character = rest.popFirst() {
            guard character == "{" || character == "}" else {
                plain.append(character)
                continue
            }
            if rest.first == character {
                plain.append(character)
                rest.removeFirst()
                continue
            }
            guard character == "{", let end = rest.firstIndex(of: "}"), let value = Self.value(rest[..<end]) else {
                return nil
            }
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(value)
            rest = rest[rest.index(after: end)...]
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// For messages: what is accepted, and the field that the user may have meant.
    package static func expected(insteadOf text: String) -> String {
        let fields = Field.allCases.map(\.rawValue)
        let names = text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            part.firstIndex(of: "}").map { String(part[..<$0].drop { !$0.isLetter }) }
        }
        let meant = names.lazy.filter { !fields.contains($0) }.compactMap { Suggestion.nearest(to: $0, among: fields) }
        return expected + (meant.first.map { " (did you mean {\($0)}?)" } ?? "")
    }

    /// A field's name, with characters other than letters before it.
    private static func value(_ text: Substring) -> Part? {
        let start = text.firstIndex(where: \.isLetter) ?? text.endIndex
        guard !text[..<start].contains("{") else { return nil }
        return Field(rawValue: String(text[start...])).map { .value($0, after: String(text[..<start])) }
    }
}
