package import AuthWire

/// An ID token (OpenID Connect Core 1.0 §2), and the checks that it must pass before its claims are believed.
package struct IDToken: Sendable {
    /// Only asymmetric algorithms: a symmetric one could be used by any holder of the client's ID or secret, and `none` is no
    /// signature (RFC 8725 §2.1, §3.1).
    private static let keyTypes = [
        "RS256": "RSA", "RS384": "RSA", "RS512": "RSA", "PS256": "RSA", "PS384": "RSA", "PS512": "RSA",
        "ES256": "EC", "ES384": "EC", "ES512": "EC", "EdDSA": "OKP",
    ]
    /// How much the two clocks may differ.
    private static let tolerance = Duration.seconds(120)
    /// A longer token does not hold claims about a user.
    private static let longest = 64 << 10

    package let text: Secret
    package let claims: JSON
    private let algorithm: String
    private let keyType: String
    private let keyID: String?

    package init(_ text: Secret) throws(IDTokenError) {
        guard text.count <= Self.longest else { throw IDTokenError("it is longer than \(Self.longest >> 10) KiB") }
        let parts = text.revealBytes().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = JWTClaims.json(parts[0])?.objectValue,
            let claims = JWTClaims.json(parts[1]), case .object = claims
        else { throw IDTokenError("it is not a JSON Web Token") }
        let algorithm = header["alg"]?.stringValue ?? "none"
        guard let keyType = Self.keyTypes[algorithm] else {
            throw IDTokenError("its signature algorithm \(ProviderText.clean(algorithm) ?? "none") is not accepted")
        }
        // Critical extensions must be understood (RFC 7515 §4.1.11); none is supported.
        guard header["crit"] == nil else { throw IDTokenError("its header has an unknown critical extension") }
        self.text = text
        self.claims = claims
        self.algorithm = algorithm
        self.keyType = keyType
        keyID = header["kid"]?.stringValue
    }

    /// The keys of a set (RFC 7517 §5) that may have signed the token, by type, use and name, and for its tenant.
    package func keys(in set: JSON, of tenants: TenantIssuer? = nil) -> [JSON] {
        (set["keys"]?.arrayValue ?? []).prefix(Self.maxKeys).filter { key in
            key["kty"]?.stringValue == keyType && Self.isLongEnough(key) && (key["use"]?.stringValue ?? "sig") == "sig"
                && (key["alg"]?.stringValue ?? algorithm) == algorithm
                && (tenants?.allows(key, for: claims) ?? true)
                && (keyID == nil || key["kid"]?.stringValue == nil || key["kid"]?.stringValue == keyID)
        }.map(EllipticCurveKey.whole)
    }

    /// Bits of an RSA key: shorter keys can be broken (RFC 7518 §3.3), longer ones only cost time.
    private static let rsaBits = 2048...8192

    private static func isLongEnough(_ key: JSON) -> Bool {
        guard key["kty"]?.stringValue == "RSA" else { return true }
        guard let text = key["n"]?.stringValue, let number = Base64URL.decode(text.utf8) else {
            return false
        }
        let digits = number.drop { $0 == 0 }
        return rsaBits.contains(digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0))
    }

    /// Each costs a signature check.
    private static let maxKeys = 64

    package struct Expectation: Sendable {
        package var issuer: String
        /// Replaces ``issuer``.
        package var tenants: TenantIssuer?
        package var clientID: String
        /// `nil` if none was sent.
        package var nonce: String?
        package var accessToken: Secret?

        package init(
            issuer: String, tenants: TenantIssuer? = nil, clientID: String, nonce: String? = nil,
            accessToken: Secret? = nil
        ) {
            self.issuer = issuer
            self.tenants = tenants
            self.clientID = clientID
            self.nonce = nonce
            self.accessToken = accessToken
        }
    }

    /// OpenID Connect Core 1.0 §3.1.3.7, except the signature.
    package func check(
        _ expected: Expectation, now: WallTime, cryptography: any Cryptography
    ) throws(IDTokenError) {
        let issuer = expected.tenants.map { $0.issuer(of: claims) } ?? expected.issuer
        guard let issuer, claims["iss"]?.stringValue?.utf8.elementsEqual(issuer.utf8) == true else {
            throw IDTokenError(issuer == nil ? "it names no tenant" : "it has another issuer")
        }
        try checkAudience(expected.clientID)
        try checkTimes(now)
        guard let subject = claims["sub"]?.stringValue, !subject.isEmpty, subject.utf8.count <= 255 else {
            throw IDTokenError("it has no valid subject")
        }
        guard claims["nonce"]?.stringValue == expected.nonce else {
            throw IDTokenError("it was made for another sign-in")
        }
        if let hash = claims["at_hash"], let token = expected.accessToken {
            guard hash.stringValue == accessTokenHash(token, cryptography) else {
                throw IDTokenError("it belongs to another access token")
            }
        }
    }

    private func checkAudience(_ clientID: String) throws(IDTokenError) {
        let audience = claims["aud"]?.stringValue.map { [$0] } ?? claims["aud"]?.arrayValue?.compactMap(\.stringValue)
        guard let audience, audience.contains(clientID) else { throw IDTokenError("it is for another client") }
        let party = claims["azp"]
        guard party == nil || party?.stringValue == clientID, audience.count == 1 || party != nil else {
            throw IDTokenError("it was issued to another client")
        }
    }

    private func checkTimes(_ now: WallTime) throws(IDTokenError) {
        func time(_ name: String) -> WallTime? { claims[name]?.doubleValue.map(WallTime.init(unixSeconds:)) }
        guard let end = time("exp"), let issued = time("iat") else { throw IDTokenError("it has no lifetime") }
        guard now < end + Self.tolerance else { throw IDTokenError("it has expired; check this machine's clock") }
        let begin = max(issued, time("nbf") ?? issued)
        guard begin < now + Self.tolerance else {
            throw IDTokenError("it is not valid yet; check this machine's clock")
        }
    }

    /// §3.1.3.6: the left half of the hash that the signature algorithm uses.
    private func accessTokenHash(_ token: Secret, _ cryptography: any Cryptography) -> String {
        let hash: SHA2 = algorithm.hasSuffix("384") ? .sha384 : algorithm.hasSuffix("256") ? .sha256 : .sha512
        let digest = cryptography.hash(token.revealBytes(), by: hash)
        return Base64URL.encode(Array(digest.prefix(digest.count / 2)))
    }
}

/// Why an ID token is not believed. The reason contains nothing of the token.
package struct IDTokenError: Error, Sendable, Equatable {
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}
