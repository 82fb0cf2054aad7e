import AgentTestSupport
import AuthModel
import Testing

@Suite("The claims of a token")
struct JWTClaimsTests {
    @Test("have its expiry and issue time, including fractions")
    func claims() {
        let token = Secret(Sample.jwt(#"{"iat":1800000000,"exp":1800003600.5,"name":"Ada ?>~"}"#))
        #expect(JWTClaims.expiry(of: token)?.unixSeconds == 1_800_003_600.5)
        #expect(JWTClaims.issuedAt(of: token)?.unixSeconds == 1_800_000_000)
    }

    @Test("have one audience, several, or none")
    func audiences() {
        #expect(JWTClaims.audiences(of: Secret(Sample.jwt(#"{"aud":"a"}"#))) == ["a"])
        #expect(JWTClaims.audiences(of: Secret(Sample.jwt(#"{"aud":["a","b",1]}"#))) == ["a", "b"])
        for other in [Sample.jwt("{}"), "opaque"] { #expect(JWTClaims.audiences(of: Secret(other)).isEmpty) }
    }

    @Test(
        "are empty for anything but a JWT with sensible dates",
        arguments: [
            "", "opaque", "a.b", "a.b.c.d", "..", Sample.jwt(#"{"exp":"1800003600"}"#), Sample.jwt(#"{"exp":null}"#),
            Sample.jwt(#"{"exp":-1}"#), Sample.jwt(#"{"exp":1e300}"#), Sample.jwt(#"[1800003600]"#), Sample.jwt("{"),
            "e30.eyJleHAiOjE4MDAwMDM2MDB9=.x", "e30.eyJleHAiOjE4MDAwMDM2MDB9 .x", "e30.eyJleHAiOjE4MDAwMDM2M.x",
            "e30.eyJ+/HAiOjE4MDAwMDM2MDB9.x",
        ])
    func none(_ token: String) {
        #expect(JWTClaims.expiry(of: Secret(token)) == nil)
    }

    @Test("leftover bits are not base64url")
    func strict() {
        // {"exp":1} ends in "fQ"; "fR" decodes to the same bytes in a lenient reader.
        #expect(JWTClaims.expiry(of: Secret("e30.eyJleHAiOjF9.x"))?.unixSeconds == 1)
        #expect(JWTClaims.expiry(of: Secret("e30.eyJleHAiOjEwfQ.x"))?.unixSeconds == 10)
        #expect(JWTClaims.expiry(of: Secret("e30.eyJleHAiOjEwfR.x")) == nil)
    }

    @Test("are not read from a token of megabytes")
    func huge() {
        let padding = String(repeating: "A", count: 100_000)
        #expect(JWTClaims.expiry(of: Secret("e30.eyJleHAiOjEwfQ.\(padding)")) == nil)
    }
}
