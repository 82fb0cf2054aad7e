import AuthWire

/// The claims of a JSON Web Token, read without checking its signature: the provider trusts it, we do not (RFC 7519 §4.1).
package enum JWTClaims {
    /// A longer token was not made for a header.
    private static let longest = 64 << 10

    /// `exp`, §4.1.4.
    package static func expiry(of token: Secret) -> WallTime? { date("exp", of: token) }

    /// `iat`, §4.1.6.
    package static func issuedAt(of token: Secret) -> WallTime? { date("iat", of: token) }

    /// Text claims about the user that an ID token may contain (OpenID Connect Core §5.1).
    package static let textClaims = ["sub", "iss", "email", "name", "given_name", "family_name", "picture"]

    /// Those of ``textClaims`` that are present and not empty.
    package static func texts(of token: Secret) -> [String: String] {
        guard let claims = claims(of: token) else { return [:] }
        var texts: [String: String] = [:]
        for name in textClaims {
            if let text = claims[name]?.stringValue, !text.isEmpty { texts[name] = text }
        }
        return texts
    }

    /// `aud`, §4.1.3; empty if there is none.
    package static func audiences(of token: Secret) -> [String] {
        guard let found = claims(of: token)?["aud"] else { return [] }
        return (found.arrayValue ?? [found]).compactMap(\.stringValue)
    }

    /// Whether its claims can be read; an opaque token has none.
    package static func isReadable(_ token: Secret) -> Bool { claims(of: token) != nil }

    /// `scope` (RFC 9068 §2.2.3), or `scp` as some servers call it: a list, or one text; `nil` if there is neither.
    package static func scopes(of token: Secret) -> [String]? {
        guard let claims = claims(of: token), let found = claims["scope"] ?? claims["scp"] else { return nil }
        return found.stringValue.map(OAuthScope.list) ?? found.arrayValue?.compactMap(\.stringValue)
    }

    private static func date(_ claim: String, of token: Secret) -> WallTime? {
        guard let seconds = claims(of: token)?[claim]?.doubleValue, TokenLifetimeDecoder.dates.contains(seconds) else {
            return nil
        }
        return WallTime(unixSeconds: seconds)
    }

    private static func claims(of token: Secret) -> JSON? {
        guard token.count <= longest else { return nil }
        let parts = token.revealBytes().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 3 ? json(parts[1]) : nil
    }

    /// The header or the claims.
    static func json(_ part: ArraySlice<UInt8>) -> JSON? {
        Base64URL.decode(part).flatMap { try? JSON(parsing: $0, values: Limits.jsonValues) }
    }
}
