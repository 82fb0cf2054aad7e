/// The lines of help.
///
/// `CommandHelp` makes the text without wrapping it. Marks surround what may be wrapped: the byte 1 and a byte for the
/// indent before it, the byte 2 after it. The byte 3 is a space at which a line is broken only if nothing else fits.
/// `HelpLayout` of the small program wraps the same marked text in the same way.
enum HelpText {
    /// The indent of the descriptions of options, arguments and commands.
    private static let descriptions = 26
    /// On narrower screens, descriptions are below their labels: few words would fit beside them.
    private static let narrow = 64
    private static let narrowIndent = 4
    private static let usage = "USAGE: "

    private static let start: Character = "\u{1}"
    private static let end: Character = "\u{2}"
    private static let keptSpace: Character = "\u{3}"

    // MARK: Marks

    /// - Parameter help: not wrapped. That of a group has no line feed at its end.
    static func marked(_ help: String) -> String {
        let help = help.hasSuffix("\n") ? help : help + "\n"
        guard let range = help.firstRange(of: "\n\n" + usage) else { return help }
        let lines = help[range.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
        let rest = lines.indices.dropFirst().map { place in
            "\n" + marked(line: lines[place], next: place + 1 < lines.endIndex ? lines[place + 1] : "")
        }
        let synopsis = marked(Substring(kept(lines.first ?? "")), indent: usage.count)
        return marked(help[..<range.lowerBound], indent: 0) + "\n\n" + usage + synopsis + rest.joined()
    }

    private static func marked(line: Substring, next: Substring) -> String {
        let margin = String(repeating: " ", count: descriptions)
        let (label, description) = (line.prefix(descriptions), line.dropFirst(descriptions))
        // A long label has its description on the next line.
        let isAlone = next.hasPrefix(margin)
        let isLabel = label.hasPrefix("  ") && label.last == " " && !isAlone && !line.hasPrefix("  See 'authc help ")
        if !description.isEmpty, label == margin || isLabel {
            return label + marked(description, indent: descriptions)
        }
        guard line.hasPrefix("  ") else { return String(line) }
        return "  " + marked(Substring(line.dropFirst(2).replacing("/--no-", with: ", --no-")), indent: narrowIndent)
    }

    private static func marked(_ text: Substring, indent: Int) -> String {
        "\(start)\(Character(UnicodeScalar(UInt8(ascii: " ") + UInt8(indent))))\(text)\(end)"
    }

    /// A synopsis, which is broken only between its parts: `[--option <value>]`, `--option <value>`, `<argument> ...`.
    private static func kept(_ synopsis: Substring) -> String {
        var (result, depth) = ("", 0)
        for place in synopsis.indices {
            let character = synopsis[place]
            if "[<".contains(character) { depth += 1 }
            if "]>".contains(character) { depth -= 1 }
            let (before, after) = (synopsis[..<place], synopsis[place...].dropFirst())
            let hasValue = before.split(separator: " ").last?.hasPrefix("-") == true && after.hasPrefix("<")
            let isKept = character == " " && (depth > 0 || hasValue || after.hasPrefix("..."))
            result.append(isKept ? keptSpace : character)
        }
        return result
    }

    // MARK: Lines

    /// The marked text on lines of at most `columns` columns. Only a word without spaces may be longer.
    static func wrapped(_ marked: String, columns: Int) -> String {
        var (result, rest) = ("", Substring(marked))
        while let place = rest.firstIndex(of: start) {
            let after = rest[place...].dropFirst()
            guard let byte = after.first?.asciiValue, let close = after.firstIndex(of: end) else { break }
            result += rest[..<place]
            var indent = Int(byte - UInt8(ascii: " "))
            if indent == descriptions, columns < narrow {
                indent = narrowIndent
                while result.last == " " { result.removeLast() }
                if result.last != "\n" { result += "\n" }
                result += String(repeating: " ", count: indent)
            }
            let margin = "\n" + String(repeating: " ", count: indent)
            for (number, line) in lines(after[..<close].dropFirst(), columns - indent).enumerated() {
                if number > 0 { result += line.isEmpty ? "\n" : margin }
                result += String(line.map { $0 == keptSpace ? " " : $0 })
            }
            rest = after[close...].dropFirst()
        }
        return result + rest
    }

    private static func lines(_ text: Substring, _ columns: Int) -> [Substring] {
        var (result, rest): ([Substring], Substring) = ([], text)
        while true {
            let chunk = rest.prefix(columns)
            if let lineFeed = chunk.lastIndex(of: "\n") {
                result += rest[..<lineFeed].split(separator: "\n", omittingEmptySubsequences: false)
                rest = rest[lineFeed...].dropFirst()
            } else if chunk.endIndex == rest.endIndex {
                return result + [rest]
            } else if let space = chunk.lastIndex(of: " ") ?? chunk.lastIndex(of: keptSpace)
                ?? rest.firstIndex(where: { $0 == " " || $0 == keptSpace })
            {
                result.append(rest[..<space])
                rest = rest[space...].dropFirst()
            } else {
                return result + [rest]
            }
        }
    }
}
