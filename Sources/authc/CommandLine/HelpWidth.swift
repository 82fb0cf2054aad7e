import AuthClient

/// The width of the lines in help.
enum HelpWidth {
    /// With fewer than 27 columns, ArgumentParser leaves out the descriptions, and with a few more there is one word on
    /// each line.
    static let narrowest = 40

    /// That of `COLUMNS`, otherwise that of the terminal (environ(7)), as in ArgumentParser.
    static var current: Int { max(environmentValue("COLUMNS").flatMap { Int($0) } ?? Screen.exact.width, narrowest) }
}
