package import AuthWire

/// How a client proves by a key who it is (RFC 7523 §2.2, §3), where it is told to.
package struct ClientAssertion: Sendable {
    package let clientID: String
    /// For whom it is.
    package let audience: String
    /// By the clock of who reads it.
    package let issuedAt: WallTime
    /// The server's name for the key, where it has several of ours.
    package let keyID: String?
    package let id: String

    /// It is used at once; longer it would only be worth stealing.
    private static let life = Duration.seconds(60)

    package static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    package init(
        clientID: String, audience: String, issuedAt: WallTime, keyID: String? = nil, id: String = Base64URL.random()
    ) {
        self.clientID = clientID
        self.audience = audience
        self.issuedAt = issuedAt
        self.keyID = keyID
        self.id = id
    }

    package var claims: JSONObject {
        [
            "iss": .string(clientID), "sub": .string(clientID), "aud": .string(audience), "jti": .string(id),
            "iat": SignedToken.date(issuedAt), "exp": SignedToken.date(issuedAt + Self.life),
        ]
    }

    /// - Throws: `validation` where the key is none.
    package func fields(by key: Secret, _ cryptography: any Cryptography) throws(AgentError) -> [FormField] {
        [
            FormField("client_assertion_type", Self.type),
            FormField("client_assertion", try SignedToken.make(claims, keyID: keyID, by: key, cryptography).reveal()),
        ]
    }
}
