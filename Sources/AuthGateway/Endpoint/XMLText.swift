/// The text of single elements in the XML of AWS's query protocol, which has neither comments nor CDATA sections, and
/// no attributes but on the root element.
enum XMLText {
    private static let entities: [(String, String)] = [
        ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&#34;", "\""),
        // The last one: what it makes is not decoded again.
        ("&amp;", "&"),
    ]

    /// What the first element of that name contains; `nil` if there is none.
    static func content(of name: String, in text: some StringProtocol) -> Substring? {
        let text = Substring(text)
        guard let start = text.firstRange(of: "<\(name)>")?.upperBound,
            let end = text[start...].firstRange(of: "</\(name)>")?.lowerBound
        else { return nil }
        return text[start..<end]
    }

    static func unescaped(_ text: Substring) -> String {
        guard text.contains("&") else { return String(text) }
        return entities.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }
}
