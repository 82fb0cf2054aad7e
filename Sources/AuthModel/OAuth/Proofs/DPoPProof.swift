package import AuthWire

/// What a request must prove: that its sender has the key that the tokens are bound to (RFC 9449).
package struct ProofRequest: Sendable {
    package let key: Secret
    /// The access token that the request carries; `nil` if it requests one.
    package let accessToken: Secret?

    package init(key: Secret, accessToken: Secret?) {
        self.key = key
        self.accessToken = accessToken
    }
}

/// One proof, for one request (RFC 9449 §4.2).
package struct DPoPProof: Sendable {
    package let request: ProofRequest
    package let method: String
    /// Without query and fragment.
    package let url: String
    /// On the recipient's clock.
    package let issuedAt: WallTime
    /// A value from the recipient, so that proofs cannot be made in advance (§8).
    package let nonce: String?
    /// Unique.
    package let id: String

    package static let header = "DPoP"

    package init(
        _ request: ProofRequest, method: String, url: String, issuedAt: WallTime, nonce: String?,
        id: String = Base64URL.random()
    ) {
        self.request = request
        self.method = method
        self.url = String(url.prefix { $0 != "?" && $0 != "#" })
        self.issuedAt = issuedAt
        self.nonce = nonce
        self.id = id
    }

    package func claims(_ cryptography: any Cryptography) -> JSONObject {
        var claims: JSONObject = [
            "jti": .string(id), "htm": .string(method), "htu": .string(url), "iat": SignedToken.date(issuedAt),
        ]
        claims["ath"] = request.accessToken.map { .string(Self.hash(of: $0, cryptography)) }
        claims["nonce"] = nonce.map(JSON.string)
        return claims
    }

    /// - Throws: `validation` if the key is not usable.
    package func text(_ cryptography: any Cryptography) throws(AgentError) -> Secret {
        try SignedToken.make(
            claims(cryptography), type: "dpop+jwt", showsKey: true, by: request.key, cryptography)
    }

    /// `ath`: binds the proof to this token.
    package static func hash(of token: Secret, _ cryptography: any Cryptography) -> String {
        Base64URL.encode(cryptography.hash(token.revealBytes(), by: .sha256))
    }

    // MARK: Nonces

    /// Longer ones are ignored.
    private static let longestNonce = 2048

    /// The nonce for the next proof, if the response has a valid one (§8.1).
    package static func nonce(in reply: HTTPResponse) -> String? {
        guard let nonce = reply.header("DPoP-Nonce"), (1...longestNonce).contains(nonce.utf8.count),
            nonce.utf8.allSatisfy(\.isScopeCharacter)
        else { return nil }
        return nonce
    }

    /// Whether a response asks to repeat the request with its nonce, as an authorization server (§8) or an API does (§9).
    package static func asksForNonce(_ reply: HTTPResponse) -> Bool {
        guard reply.status == 400 || reply.status == 401 else { return false }
        let challenges = reply.headers.filter { $0.name.lowercased() == "www-authenticate" }
        return challenges.contains { $0.value.contains(challenge) }
            || ResponseBody(reply).json?["error"]?.stringValue == challenge
    }

    package static let challenge = "use_dpop_nonce"
}

extension HTTPField {
    /// The access token with the scheme of its type (RFC 6750 §2.1, RFC 9449 §7.1).
    package static func authorization(_ token: Secret, boundTo key: Secret?) -> HTTPField {
        HTTPField("Authorization", (key == nil ? "Bearer " : "DPoP ") + token.reveal())
    }
}

extension HTTPRequest {
    /// Adds a proof to the request, if there is a key.
    package mutating func prove(_ accessToken: Secret?, with key: Secret?) {
        guard let key else { return }
        proof = ProofRequest(key: key, accessToken: accessToken)
        // A proof is valid for one URL.
        followsRedirects = false
    }
}
