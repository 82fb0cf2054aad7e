/// Scopes as they are written (RFC 6749 §3.3).
package enum OAuthScope {
    package static func isOne(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 1024
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    /// Those of an answer: by spaces, or by commas as some providers have them.
    static func list(_ text: String) -> [String] {
        text.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
    }
}
