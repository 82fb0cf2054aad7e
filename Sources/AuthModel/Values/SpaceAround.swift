extension String {
    /// Without leading and trailing whitespace.
    package var withoutSpaceAround: String {
        let rest = drop { $0.isWhitespace }
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(rest[...last])
    }
}
