extension StringProtocol {
    /// Without white space at its ends.
    var trimmed: String {
        var text = self[...].drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return String(text)
    }
}
