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

    private static func date(_ claim: String, of token: Secret) -> WallTime? {
        guard let seconds = claims(of: token)?[claim]?.doubleValue, TokenLifetimeDecoder.dates.contains(seconds) else {
            return nil
        }
        return WallTime(unixSeconds: seconds)
    }

    private static func claims(of token: Secret) -> JSON? {
        guard token.count <= longest else { return nil }
        let parts = token.revealBytes().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = base64URL(parts[1]) else { return nil }
        return try? JSON(parsing: payload, values: Limits.jsonValues)
    }

    /// Strictly RFC 4648 §5 without padding: no other characters, no impossible length, no leftover bits.
    static func base64URL(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        for letter in text {
            guard let value = value(of: letter) else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard bits & ((1 << UInt32(count)) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of letter: UInt8) -> UInt8? {
        switch letter {
        case _ where letter.isUppercase: letter - UInt8(ascii: "A")
        case _ where letter.isLowercase: letter - UInt8(ascii: "a") + 26
        case _ where letter.isDigit: letter - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
