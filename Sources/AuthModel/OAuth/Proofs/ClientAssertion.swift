package import AuthWire

/// The claim with which a client authenticates using a key (RFC 7523 §2.2, §3), if the profile asks for it.
package struct ClientAssertion: Sendable {
    package let clientID: String
    package let audience: String
    /// On the recipient's clock.
    package let issuedAt: WallTime
    /// The server's name for the key, if it has several of our keys.
    package let keyID: String?
    package let id: String

    /// It is used at once. A longer lifetime would only help a thief.
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

    /// - Throws: `validation` if the key is not usable.
    package func fields(by key: Secret, _ cryptography: any Cryptography) throws(AgentError) -> [FormField] {
        [
            FormField("client_assertion_type", Self.type),
            FormField("client_assertion", try SignedToken.make(claims, keyID: keyID, by: key, cryptography).reveal()),
        ]
    }
}
