import CStart

/// A command line whose result is a text of ``InstalledTexts``: help, or a completion script.
///
/// Other forms of it are left to `authc-full`, as are errors.
struct TextRequest {
    /// As it is in the index of the file: the words of a command and `--help`, or a whole command line.
    private let line: ByteString
    private let isHelp: Bool

    /// - Parameter words: without the program's name.
    init?(_ words: [Text]) {
        guard let first = words.first, let last = words.last else { return nil }
        var path = words[...]
        if last.equals("--help") || last.equals("-h") {
            (isHelp, path) = (true, words.dropLast())
        } else if first.equals("help") {
            (isHelp, path) = (true, words.dropFirst())
        } else if first.equals("completion"), words.count == 2 {
            isHelp = false
        } else {
            return nil
        }
        var line = ByteString()
        for word in path {
            // Joined with spaces, such a word would look like other words.
            guard word.count > 0, !word.contains(.space) else { return nil }
            if !line.bytes.isEmpty { line.append(" ") }
            line.append(word)
        }
        if isHelp { line.append(line.bytes.isEmpty ? "--help" : " --help") }
        self.line = line
    }

    /// Whether the text was printed, so that nothing is left to do.
    func print() -> Bool {
        guard Printer.canPrint, let text = InstalledTexts.text(of: line) else { return false }
        guard isHelp else { return Printer.print(text) }
        return HelpLayout.text(text).map(Printer.print) ?? false
    }
}
