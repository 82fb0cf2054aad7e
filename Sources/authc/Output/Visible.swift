import AuthWire

/// Makes text from other sources safe to print: control and invisible characters become visible.
enum Visible {
    /// For one line: a line feed is escaped too.
    static func line(_ text: String) -> String { VisibleText.line(text) }

    /// For a text of several lines. They end with LF or CRLF, and each of the two is one character.
    static func lines(_ text: String) -> String {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map { line(String($0)) }
            .joined(separator: "\n")
    }

    /// For JSON text. Every writer escapes C0; this escapes the rest.
    static func escaped(json: [UInt8]) -> [UInt8] {
        guard json.contains(where: { $0 >= 0x7F }) else { return json }
        var result = ""
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if VisibleText.isHidden(scalar) {
                // A pair of surrogates above the basic plane (RFC 8259 §7).
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
