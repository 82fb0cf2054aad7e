/// A line with `{{FIELD}}` in it.
struct SessionTemplate {
    private enum Part {
        case text(String)
        case field(String)
    }

    private var parts: [Part] = []

    /// - Throws: a usage error for an unknown field, or for braces that are not closed.
    init(_ template: String) throws(Failure) {
        var rest = template[...]
        while let open = rest.firstRange(of: "{{") {
            parts.append(.text(Self.unescaped(rest[..<open.lowerBound])))
            rest = rest[open.upperBound...]
            guard let close = rest.firstRange(of: "}}") else {
                throw .usage(
                    "--format: '{{' without '}}'",
                    hint: "a template is text with fields in it, as in '{{name}} {{state}}'")
            }
            let name = String(rest[..<close.lowerBound].filter { $0 != " " })
            try SessionFields.check(name, option: "--format")
            parts.append(.field(name))
            rest = rest[close.upperBound...]
        }
        parts.append(.text(Self.unescaped(rest)))
    }

    func line(_ fields: SessionFields) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let name): Visible.line(fields.text(name))
            }
        }.joined()
    }

    /// `\t` and `\n`, which shells do not pass on.
    private static func unescaped(_ text: Substring) -> String {
        var result = ""
        var isEscaped = false
        for character in text {
            switch (isEscaped, character) {
            case (false, "\\"): isEscaped = true
            case (true, "t"): (result, isEscaped) = (result + "\t", false)
            case (true, "n"): (result, isEscaped) = (result + "\n", false)
            case (true, "\\"): (result, isEscaped) = (result + "\\", false)
            case (true, _): (result, isEscaped) = (result + "\\" + String(character), false)
            case (false, _): result.append(character)
            }
        }
        return result + (isEscaped ? "\\" : "")
    }
}
