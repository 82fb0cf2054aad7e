extension Layout {
    /// A text of several lines for this screen. On a terminal, a line that is too long is continued in the next one,
    /// with the same indentation. Nothing is left out, and no word is broken: tokens, URLs and paths can be copied.
    /// Neither is a command in backticks, if it fits on a line.
    static func fitted(_ text: String, on screen: Screen) -> String {
        // What has colours was laid out before.
        guard screen.isTerminal, !text.unicodeScalars.contains("\u{1B}") else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { fitted(line: $0, to: screen.width) }.joined(separator: "\n")
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
    static func words(of text: Substring, to columns: Int) -> [(gap: Int, word: String)] {
        var words: [(gap: Int, word: String)] = []
        var rest = text
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
            if start[..<longer].count(where: { $0 == "`" }) % 2 == 0, width(String(start[..<longer])) <= columns {
                end = longer
            }
            words.append((gap, String(start[..<end])))
            rest = start[end...]
        }
    }
}
