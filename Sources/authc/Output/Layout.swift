import AuthWire

/// Lays out text on a screen. Colours are added later: the text has no escape sequences.
enum Layout {
    /// The number of columns of `text`, whose characters are all visible.
    static func width(_ text: String) -> Int {
        TerminalText.width(text)
    }

    static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }

    /// `text` in as many columns at most, with a mark in place of what is left out.
    /// - Parameter keepsEnd: leaves out the middle.
    static func shortened(_ text: String, to columns: Int, keepsEnd: Bool = false, isUnicode: Bool) -> String {
        let text = TerminalText.shown(text, isUnicode: isUnicode)
        guard width(text) > columns else { return text }
        let mark = TerminalText.shown("…", isUnicode: isUnicode)
        let room = columns - width(mark)
        guard room > 0 else { return String(mark.prefix(max(0, columns))) }
        let end = keepsEnd ? start(of: text.reversed(), room / 2).reversed() : []
        return String(start(of: Array(text), room - width(String(end)))) + mark + String(end)
    }

    /// The end of `text` in at most `columns` columns, with a mark in place of what is left out.
    static func end(of text: String, to columns: Int, isUnicode: Bool) -> String {
        let text = TerminalText.shown(text, isUnicode: isUnicode)
        guard width(text) > columns else { return text }
        let mark = TerminalText.shown("…", isUnicode: isUnicode)
        let end = start(of: text.reversed(), max(0, columns - width(mark))).reversed()
        return mark + String(end)
    }

    /// The first characters, as many as fit.
    private static func start(of text: [Character], _ columns: Int) -> [Character] {
        var (result, used): ([Character], Int) = ([], 0)
        for character in text {
            used += width(String(character))
            guard used <= columns else { break }
            result.append(character)
        }
        return result
    }

    /// A text of several lines for this screen. On a terminal, a line that is too long is continued in the next one.
    static func fitted(_ text: String, on screen: Screen) -> String {
        let text = screen.shown(text)
        // What has colours was laid out before.
        guard screen.isTerminal, !text.unicodeScalars.contains("\u{1B}") else { return text }
        return TerminalText.fitted(text, to: screen.width)
    }

    /// `text` in lines for this screen. On a terminal, breaks at spaces, and inside a word that is longer than a line. URLs
    /// and paths are not broken, so that they can be copied, unless nothing may be wider than the screen. Neither is a
    /// command in backticks, if it fits on a line. In a file or pipe, only the text's own line feeds begin a new line.
    /// - Parameter isPage: wraps in a file or pipe too, at spaces only.
    static func wrapped(
        _ text: String, on screen: Screen, indent: Int = 0, isExact: Bool = false, isPage: Bool = false
    ) -> [String] {
        screen.shown(text).split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            guard screen.isTerminal || isPage else { return [String(line)] }
            return wrapped(line, to: max(1, screen.width - indent)) { word in
                screen.isTerminal && (isExact || !word.contains("/"))
            }
        }
    }

    private static func wrapped(_ text: Substring, to columns: Int, breaking: (String) -> Bool) -> [String] {
        var lines: [String] = []
        var line = ""
        for (_, word) in TerminalText.words(of: text, to: columns) {
            for piece in breaking(word) ? pieces(of: word, columns) : [word] {
                if line.isEmpty {
                    line = piece
                } else if width(line) + 1 + width(piece) <= columns {
                    line += " " + piece
                } else {
                    lines.append(line)
                    line = piece
                }
            }
        }
        return lines + [line]
    }

    private static func pieces(of word: String, _ columns: Int) -> [String] {
        guard width(word) > columns else { return [word] }
        var pieces: [String] = []
        var piece = ""
        for character in word {
            if !piece.isEmpty, width(piece) + width(String(character)) > columns {
                pieces.append(piece)
                piece = ""
            }
            piece.append(character)
        }
        return pieces + [piece]
    }
}
