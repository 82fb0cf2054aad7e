extension Duration {
    /// Rounded down, and limited to 64 bits. Durations on the wire are whole milliseconds.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}

extension String {
    /// Safe to quote in a message: one line of limited length with visible characters.
    package var quotable: String {
        var text = ""
        text.unicodeScalars.append(contentsOf: unicodeScalars.prefix(Limits.quotedCharacters))
        return VisibleText.line(text) + (unicodeScalars.count > Limits.quotedCharacters ? "…" : "")
    }
}
