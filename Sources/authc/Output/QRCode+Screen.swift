extension QRCode {
    /// The light border that cameras need. The standard says four modules; two are enough (§6.3.8).
    private static let quiet = 2

    /// Draws two modules per character, black on white in any colour scheme.
    /// - Returns: `nil` if the screen cannot show it.
    func lines(on screen: Screen) -> [String]? {
        guard screen.isColoured, screen.isUnicode, screen.width >= size + 2 * Self.quiet else { return nil }
        let places = -Self.quiet..<(size + Self.quiet)
        return stride(from: places.lowerBound, to: places.upperBound, by: 2).map { row in
            let halves = places.map { column in
                switch (isDark(column, row), isDark(column, row + 1)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1B}[38;5;16;48;5;231m" + halves.joined() + "\u{1B}[0m"
        }
    }
}
