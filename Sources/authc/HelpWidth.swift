import AuthClient

/// The width of the lines in help.
enum HelpWidth {
    /// With less than 27 columns, ArgumentParser would leave out the descriptions, and with a few more they would have a word
    /// on each line.
    static let narrowest = 40

    /// What `COLUMNS` has, otherwise the terminal (environ(7)), as for ArgumentParser.
    static var current: Int { max(environmentValue("COLUMNS").flatMap { Int($0) } ?? Screen.exact.width, narrowest) }
}
