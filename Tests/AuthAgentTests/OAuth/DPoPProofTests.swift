import AgentTestSupport
import AuthAgent
import AuthTokens
import AuthWire
import Testing

@testable import AuthModel

@Suite("Proofs of possession")
struct DPoPProofTests {
    private static let cryptography = SystemCryptography()
    /// RFC 9449, Figure 3.
    private static let jwk: JSONObject = [
        "kty": "EC", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
        "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA", "crv": "P-256",
    ]
    private static let header =
        #"{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","#
        + #""y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","crv":"P-256"}}"#
    /// RFC 9449, Figure 12.
    private static let token = Secret("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")

    private static func demand(_ token: Secret? = nil) -> ProofRequest {
        ProofRequest(key: cryptography.makeKey(), accessToken: token)
    }

    private func parts(_ proof: Secret) throws -> (header: JSON, claims: JSON) {
        let parts = proof.revealBytes().split(separator: UInt8(ascii: "."))
        try #require(parts.count == 3)
        return (
            try JSON(parsing: try #require(Base64URL.decode(parts[0]))),
            try JSON(parsing: try #require(Base64URL.decode(parts[1])))
        )
    }

    @Test(
        "the proofs of RFC 9449, Figures 2 and 12, are signed by the key in them, and say what Figures 3 and 13 have",
        arguments: [
            (
                ProofRequest(key: Secret(""), accessToken: nil), "POST", "https://server.example.com/token",
                1_562_262_616,
                "-BwC3ESc6acc2lTc",
                #"{"jti":"-BwC3ESc6acc2lTc","htm":"POST","htu":"https://server.example.com/token","iat":1562262616}"#,
                "2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
            ),
            (
                ProofRequest(key: Secret(""), accessToken: token), "GET",
                "https://resource.example.org/protectedresource", 1_562_262_618, "e1j3V_bKic8-LAEB",
                #"{"jti":"e1j3V_bKic8-LAEB","htm":"GET","htu":"https://resource.example.org/protectedresource","#
                    + #""iat":1562262618,"ath":"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"}"#,
                "2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
            ),
        ] as [(ProofRequest, String, String, Double, String, String, String)])
    func figures(
        demand: ProofRequest, method: String, url: String, date: Double, id: String, claims: String, signature: String
    ) async throws {
        let text = [Self.header, claims].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        #expect(await Self.cryptography.isSigned(Secret(text + "." + signature), by: .object(Self.jwk)))
        let proof = DPoPProof(
            demand, method: method, url: url + "?a=b#c", issuedAt: WallTime(unixSeconds: date), nonce: nil, id: id)
        #expect(try JSON(parsing: Array(claims.utf8)) == .object(proof.claims(Self.cryptography)))
    }

    @Test("the hash of RFC 9449 §7.1 is the token's, and the thumbprint of §6.1 the key's")
    func hashes() {
        #expect(DPoPProof.hash(of: Self.token, Self.cryptography) == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
        let key = PublicKey(algorithm: "ES256", jwk: Self.jwk)
        #expect(key.thumbprint(Self.cryptography) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    @Test("the thumbprint of RFC 7638 §3.1 is that of its key")
    func thumbprint() {
        let modulus =
            "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj"
            + "hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6q"
            + "MQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awa"
            + "pJzKnqDKgw"
        let key = PublicKey(algorithm: "RS256", jwk: ["kty": "RSA", "n": .string(modulus), "e": "AQAB"])
        #expect(key.thumbprint(Self.cryptography) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test("a proof is signed by the session's key, has only the public key, and is invalid if one letter changes")
    func own() async throws {
        let demand = Self.demand(Self.token)
        let proof = try DPoPProof(
            demand, method: "GET", url: "https://api.example/a?b=c", issuedAt: WallTime(unixSeconds: 1_800_000_000.9),
            nonce: "n"
        ).text(Self.cryptography)
        let (header, claims) = try parts(proof)
        let jwk = try #require(header["jwk"])
        #expect(header["typ"] == "dpop+jwt" && header["alg"] == "ES256")
        #expect(Set(jwk.objectValue?.keys ?? []) == ["kty", "crv", "x", "y"])
        #expect(claims["htu"] == "https://api.example/a" && claims["nonce"] == "n")
        #expect(claims["iat"] == 1_800_000_000)
        #expect(await Self.cryptography.isSigned(proof, by: jwk))
        var bytes = proof.revealBytes()
        bytes[bytes.count - 20] = bytes[bytes.count - 20] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        #expect(!(await Self.cryptography.isSigned(Secret(bytes: bytes), by: jwk)))
    }

    @Test("no two are the same, and each is of the time that its reader's clock shows")
    func fresh() async throws {
        let clock = ManualClock()
        let signer = ProofSigner(
            cryptography: Self.cryptography, clock: clock,
            skew: { $0.host == "ahead.example" ? .seconds(3600) : .zero })
        let demand = Self.demand()
        var seen: Set<String> = []
        for (url, ahead) in [("https://ahead.example/", 3600.0), ("https://right.example/", 0)] {
            for _ in 0..<2 {
                let proof = try await signer.proof(demand, method: "POST", url: url)
                let claims = try parts(proof).claims
                #expect(claims["iat"]?.doubleValue == clock.now().wall.unixSeconds + ahead)
                seen.insert(try #require(claims["jti"]?.stringValue))
            }
        }
        #expect(seen.count == 4)
    }

    // MARK: Nonces

    private func reply(_ status: Int, _ headers: [(name: String, value: String)], _ body: String = "") -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    }

    @Test(
        "the same is wanted once more where RFC 9449 §8 and §9 say so, and nowhere else",
        arguments: [
            (400, "", #"{"error":"use_dpop_nonce"}"#, true), (401, #"DPoP error="use_dpop_nonce""#, "", true),
            (401, #"DPoP error="invalid_token""#, "", false), (400, "", #"{"error":"invalid_grant"}"#, false),
            (500, #"DPoP error="use_dpop_nonce""#, "", false), (200, "", #"{"error":"use_dpop_nonce"}"#, false),
        ])
    func challenge(status: Int, field: String, body: String, isOne: Bool) {
        #expect(DPoPProof.asksForNonce(reply(status, [("WWW-Authenticate", field)], body)) == isOne)
    }

    @Test("a server's nonce is in the next proofs for it, and in no others")
    func nonces() async throws {
        let signer = ProofSigner(cryptography: Self.cryptography, clock: ManualClock(), skew: { _ in .zero })
        let (url, key) = ("https://one.example/token", Self.cryptography.makeKey())
        func nonce(_ url: String, _ token: Secret?) async throws -> JSON? {
            var request = HTTPRequest(method: "GET", url: url)
            request.prove(token, with: key)
            let proven = try await signer.proven(request)
            let proofs = proven.headers.filter { $0.name == "DPoP" }
            try #require(proofs.count == 1)
            return try parts(proofs[0].value).claims["nonce"]
        }
        var request = HTTPRequest(method: "GET", url: url)
        #expect(
            !signer.recordNonce(of: reply(400, [("DPoP-Nonce", "n1")], #"{"error":"use_dpop_nonce"}"#), to: request))
        request.prove(nil, with: key)
        #expect(try await nonce(url, nil) == nil)
        #expect(signer.recordNonce(of: reply(400, [("dpop-nonce", "n1")], #"{"error":"use_dpop_nonce"}"#), to: request))
        #expect(try await nonce("https://one.example/par", nil) == "n1")
        #expect(try await nonce(url, Self.token) == nil)
        #expect(try await nonce("https://two.example/token", nil) == nil)
        // One that comes with a success is the next (§8.2), and what is no such word is none.
        #expect(!signer.recordNonce(of: reply(200, [("DPoP-Nonce", "n2")]), to: request))
        for bad in ["", "a b", "a\"b", String(repeating: "n", count: 5000)] {
            #expect(
                !signer.recordNonce(of: reply(400, [("DPoP-Nonce", bad)], #"{"error":"use_dpop_nonce"}"#), to: request))
        }
        #expect(try await nonce(url, nil) == "n2")
    }
}
