/// Text as a terminal can show it: in its character set, and in lines that fit its width. Colours are added later: the
/// text has no escape sequences.
package enum TerminalText {
    /// Below this, only one word fits on a line.
    package static let fewestColumns = 20
    /// For files, pipes, and terminals that do not report a width.
    package static let usualColumns = 80

    /// Whether the locale has characters beyond ASCII (locale(7)). An empty variable counts as not set.
    package static func isUnicode(environment: (String) -> String?) -> Bool {
        let values = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment)
        let locale = values.first { !$0.isEmpty } ?? ""
        return ["UTF-8", "UTF8"].contains { locale.uppercased().hasSuffix($0) }
    }

    /// The text, with ASCII in place of the other characters that our own messages have, unless the locale has them.
    /// Names and words of others stay as they are.
    package static func shown(_ text: String, isUnicode: Bool) -> String {
        guard !isUnicode, text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\u{2026}": result += "..."
            case "\u{A7}": result += "section "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The number of columns of `text`, whose characters are all visible.
    package static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // East Asian Wide and Fullwidth (UAX #11): the blocks that names use.
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x1FA70...0x1FAFF,
            0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// A line that is too long is continued in the next one, with the same indentation. Nothing is left out, and no
    /// word is broken: tokens, URLs and paths can be copied. Neither is a command in backticks, if it fits on a line.
    package static func fitted(_ text: String, to columns: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { fitted(line: $0, to: columns) }.joined(separator: "\n")
    }

    private static func fitted(line: Substring, to columns: Int) -> [String] {
        guard width(String(line)) > columns else { return [String(line)] }
        let content = line.drop { $0 == " " }
        var indent = line.count - content.count
        if content.hasPrefix("- ") || content.hasPrefix("+ ") { indent += 2 }
        // There is room for a word beside it.
        indent = min(indent, columns / 2)
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var current = String(line.prefix(line.count - content.count))
        var isEmpty = true
        for (gap, word) in words(of: content, to: columns - indent) {
            // A word that is longer than a line gains nothing from a new one.
            if !isEmpty, width(current) + gap + width(word) > columns, width(word) <= columns - indent {
                lines.append(current)
                current = margin
                isEmpty = true
            }
            current += (isEmpty ? "" : String(repeating: " ", count: gap)) + word
            isEmpty = false
        }
        return lines + [current]
    }

    /// The words, each with the spaces before it. What is in backticks is one word if it has so many columns at most.
    package static func words(of text: Substring, to columns: Int) -> [(gap: Int, word: String)] {
        var words: [(gap: Int, word: String)] = []
        var rest = text
        // The end of a longer command, whose words are separate.
        var divided = text.startIndex
        while true {
            let start = rest.drop { $0 == " " }
            let gap = rest.count - start.count
            guard !start.isEmpty else { return words }
            var end = start.firstIndex(of: " ") ?? start.endIndex
            // An even number of backticks is complete.
            var longer = end
            while start[..<longer].count(where: { $0 == "`" }) % 2 == 1, longer < start.endIndex {
                longer = start[longer...].dropFirst().firstIndex(of: " ") ?? start.endIndex
            }
            if start.startIndex >= divided, start[..<longer].count(where: { $0 == "`" }) % 2 == 0 {
                if width(String(start[..<longer])) <= columns { end = longer } else { divided = longer }
            }
            words.append((gap, String(start[..<end])))
            rest = start[end...]
        }
    }
}
