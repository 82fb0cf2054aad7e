import AuthWire

/// Makes text from elsewhere safe to show: whatever a terminal acts on, or a reader is misled by, becomes visible.
enum Visible {
    /// On one line: a line feed is no exception.
    static func line(_ text: String) -> String { VisibleText.line(text) }

    /// The same for words that may have several lines.
    static func lines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line(String($0)) }.joined(separator: "\n")
    }

    /// A JSON text's strings, the same way: C0 is escaped by every writer, the rest only here.
    static func escaped(json: [UInt8]) -> [UInt8] {
        guard json.contains(where: { $0 >= 0x7F }) else { return json }
        var result = ""
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if VisibleText.isHidden(scalar) {
                // RFC 8259 §7: above the basic plane, a pair of surrogates.
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return Array(result.utf8)
    }
}
