/// Shows commands and what they do, at any width.
struct TrialScreen {
    private static let prompt = "$ "
    private static let indent = 2

    let screen: Screen

    /// A command that can be copied: lines that go on end in a backslash.
    func command(_ text: String) throws(Failure) {
        var lines: [String] = []
        var line = Self.prompt
        for word in text.split(separator: " ") {
            let isFirst = line == Self.prompt
            // A space before the word, and one before the backslash.
            if !isFirst, Layout.width(line) + Layout.width(String(word)) + 3 > screen.width {
                lines.append(line + " \\")
                line = "    " + word
            } else {
                line += (isFirst ? "" : " ") + word
            }
        }
        // The last line needs no room for a backslash.
        try Output.result((lines + [line]).map { screen.paint($0, .bold) }.joined(separator: "\n"))
    }

    /// What it did.
    func result(_ text: String) throws(Failure) {
        let space = String(repeating: " ", count: Self.indent)
        let lines = Layout.wrapped(Visible.line(text), on: screen, indent: Self.indent, isPage: true)
        try Output.result(lines.map { space + $0 }.joined(separator: "\n"))
    }

    func words(_ text: String) throws(Failure) {
        try Output.result(Layout.wrapped(text, on: screen, isPage: true).joined(separator: "\n"))
    }

    /// Something that happens without a command.
    func note(_ text: String) throws(Failure) {
        let lines = Layout.wrapped(text, on: screen, indent: Self.indent, isPage: true)
        try Output.result(lines.map { screen.paint("# " + $0, .dim) }.joined(separator: "\n"))
    }
}
