extension String {
    /// Without the spaces and line ends before and after it.
    package var withoutSpaceAround: String {
        let rest = drop { $0.isWhitespace }
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(rest[...last])
    }
}
