extension Duration {
    /// Rounded down; lengths on the wire are whole milliseconds. Ends at what 64 bits hold.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}

extension String {
    /// Fit to be repeated in a message: one line of bounded length, every character visible.
    package var quotable: String {
        var text = ""
        text.unicodeScalars.append(contentsOf: unicodeScalars.prefix(Limits.quotedCharacters))
        return VisibleText.line(text) + (unicodeScalars.count > Limits.quotedCharacters ? "…" : "")
    }
}
