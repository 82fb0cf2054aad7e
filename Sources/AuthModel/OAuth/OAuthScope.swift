/// Scopes in their text form (RFC 6749 §3.3).
package enum OAuthScope {
    package static func isOne(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 1024
            && text.utf8.allSatisfy(\.isScopeCharacter)
    }

    /// In bytes. Scopes are stored with the session and are part of its status. Long lists have a few kilobytes.
    private static let longestList = 16 << 10

    /// The scopes of a response, separated by spaces, or by commas as some providers write them. Invalid scopes and those
    /// beyond the limit are left out.
    static func list(_ text: String) -> [String] {
        let words = text.utf8.prefix(longestList + 1).split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") }
        // The last one may be cut off.
        let whole = text.utf8.count > longestList ? words.dropLast() : words[...]
        return whole.map { String(decoding: $0, as: UTF8.self) }.filter(isOne)
    }

    /// The scopes that another machine lists, without invalid ones and those beyond the limit.
    package static func limited(_ scopes: [String]) -> [String] {
        var left = longestList
        return Array(
            scopes.filter(isOne).prefix { scope in
                left -= scope.utf8.count + 1
                return left >= 0
            })
    }
}
