/// Lays out text in the columns of a terminal. Colours are added later: the text has no escape sequences.
enum Layout {
    /// The number of columns of `text`, whose characters are all visible.
    static func width(_ text: String) -> Int {
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

    static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }

    /// `text` in as many columns at most, with a mark in place of what is left out.
    /// - Parameter keepsEnd: leaves out the middle.
    static func shortened(_ text: String, to columns: Int, keepsEnd: Bool = false, isUnicode: Bool) -> String {
        guard width(text) > columns else { return text }
        let mark = isUnicode ? "…" : "..."
        let room = columns - width(mark)
        guard room > 0 else { return String(mark.prefix(max(0, columns))) }
        let end = keepsEnd ? start(of: text.reversed(), room / 2).reversed() : []
        return String(start(of: Array(text), room - width(String(end)))) + mark + String(end)
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

    /// `text` in lines for this screen. On a terminal, breaks at spaces, and inside a word that is longer than a line. URLs
    /// and paths are not broken, so that they can be copied, unless nothing may be wider than the screen. Neither is a
    /// command in backticks, if it fits on a line. In a file or pipe, only the text's own line feeds begin a new line.
    /// - Parameter isPage: wraps in a file or pipe too, at spaces only.
    static func wrapped(
        _ text: String, on screen: Screen, indent: Int = 0, isExact: Bool = false, isPage: Bool = false
    ) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            guard screen.isTerminal || isPage else { return [String(line)] }
            return wrapped(line, to: max(1, screen.width - indent)) { word in
                screen.isTerminal && (isExact || !word.contains("/"))
            }
        }
    }

    private static func wrapped(_ text: Substring, to columns: Int, breaking: (String) -> Bool) -> [String] {
        var lines: [String] = []
        var line = ""
        for (_, word) in words(of: text, to: columns) {
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
