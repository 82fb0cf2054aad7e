import AuthTokens
import AuthWire
import Testing

@testable import AuthModel

@Suite("A client assertion signed with a key")
struct ClientAssertionTests {
    private static let cryptography = SystemCryptography()
    private static let now = WallTime(unixSeconds: 1_800_000_000)

    private func header(_ fields: [FormField]) throws -> JSON {
        let assertion = try #require(fields["client_assertion"])
        return try JSON(parsing: try #require(Base64URL.decode(Array(assertion.utf8).prefix { $0 != 0x2E })))
    }

    private func assertion(keyID: String? = nil) -> ClientAssertion {
        ClientAssertion(clientID: "s6BhdRkqt3", audience: "https://as.example", issuedAt: Self.now, keyID: keyID)
    }

    @Test("it has issuer, audience and lifetime, and its ID is unique (RFC 7523 §3)")
    func claims() {
        let (first, second) = (assertion().claims, assertion().claims)
        #expect(first["iss"] == "s6BhdRkqt3" && first["sub"] == first["iss"])
        #expect(first["aud"] == "https://as.example")
        #expect(first["iat"] == 1_800_000_000 && first["exp"] == 1_800_000_060)
        #expect(first["jti"] != second["jti"])
    }

    @Test("a P-256 key signs with ES256, and its public key verifies the signature")
    func ecdsa() async throws {
        let key = Self.cryptography.makeKey()
        let fields = try assertion(keyID: "k1").fields(by: key, Self.cryptography)
        #expect(fields["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        #expect(try header(fields) == ["alg": "ES256", "kid": "k1"])
        let known = try #require(Self.cryptography.publicKey(of: key))
        let text = Secret(try #require(fields["client_assertion"]))
        #expect(await Self.cryptography.isSigned(text, by: .object(known.jwk)))
    }

    @Test("an invalid key, or one of another curve, is reported without showing it")
    func unusableKey() {
        let other = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v_tell_nobody
            -----END PRIVATE KEY-----
            """
        for text in ["", "tell-nobody", other] {
            let error = #expect(throws: AgentError.self) {
                try assertion().fields(by: Secret(text), Self.cryptography)
            }
            #expect(error?.cause == "key")
            #expect(error?.message.contains("nobody") == false)
        }
    }
}
