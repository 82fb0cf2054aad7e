import AuthConnection

/// The width of the lines in help.
enum HelpWidth {
    /// With fewer columns, not even the names of all options fit.
    static let narrowest = 40

    /// `COLUMNS`, otherwise the terminal's width (environ(7)).
    static var current: Int { max(environmentValue("COLUMNS").flatMap { Int($0) } ?? Screen.exact.width, narrowest) }
}
