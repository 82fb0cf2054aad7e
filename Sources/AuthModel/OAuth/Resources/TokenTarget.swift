package import AuthWire

/// What a separate token is for: fewer scopes, or another audience.
package struct TokenTarget: Sendable, Hashable {
    /// Sorted and unique, so that equal requests have equal targets.
    package let scopes: [String]
    package let audience: String?

    /// Far above what any request names.
    private static let maxScopes = 64
    /// As long as an address of a resource ever is.
    private static let longestAudience = 2048

    /// - Returns: `nil` if the session's own token is requested.
    /// - Throws: `invalid params` for an invalid scope (RFC 6749 §3.3) or audience.
    package init?(_ params: TokenGet) throws(AgentError) {
        let scopes = params.scopes ?? []
        guard !scopes.isEmpty || params.audience != nil else { return nil }
        guard scopes.count <= Self.maxScopes, scopes.allSatisfy(OAuthScope.isOne) else {
            throw .invalidParams(
                "params.scopes: expected at most \(Self.maxScopes) scopes without spaces."
            )
        }
        if let audience = params.audience {
            guard (1...Self.longestAudience).contains(audience.utf8.count),
                audience.utf8.allSatisfy(\.isVisible)
            else {
                throw .invalidParams("params.audience: expected an address or name without spaces.")
            }
        }
        self.scopes = Set(scopes).sorted()
        audience = params.audience
    }
}
