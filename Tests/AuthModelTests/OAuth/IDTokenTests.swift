import AuthModel
import AuthTokens
import AuthWire
import Testing

@Suite("ID tokens")
struct IDTokenTests {
    private static let cryptography = SystemCryptography()
    private static let now = WallTime(unixSeconds: 1_311_281_000)
    private static let expected = IDToken.Expectation(
        issuer: "https://server.example.com", clientID: "s6BhdRkqt3", nonce: "n-0S6_WzA2Mj")
    /// The claims of OpenID Connect Core 1.0 §2.
    private static let claims: JSONObject = [
        "iss": "https://server.example.com", "sub": "24400320", "aud": "s6BhdRkqt3", "nonce": "n-0S6_WzA2Mj",
        "exp": 1_311_281_970, "iat": 1_311_280_970,
    ]

    private func token(_ claims: JSONObject, header: String = #"{"alg":"RS256"}"#) throws(IDTokenError) -> IDToken {
        let parts = [Array(header.utf8), JSON.object(claims).serialized(), [1, 2, 3]].map(Base64URL.encode)
        return try IDToken(Secret(parts.joined(separator: ".")))
    }

    private func changed(_ name: String, _ value: JSON?) -> JSONObject {
        var claims = Self.claims
        claims[name] = value
        return claims
    }

    private func check(_ claims: JSONObject, accessToken: String? = nil) throws(IDTokenError) {
        var expected = Self.expected
        expected.accessToken = accessToken.map { Secret($0) }
        try token(claims).check(expected, now: Self.now, cryptography: Self.cryptography)
    }

    @Test(
        "a signature with an RSA key below 2048 or above 8192 bits is not accepted",
        arguments: [(1024, false), (2047, false), (2048, true), (4096, true), (8192, true), (8193, false)])
    func keySize(bits: Int, isTaken: Bool) throws {
        var number = [UInt8](repeating: 0xFF, count: (bits + 7) / 8)
        number[0] = bits % 8 == 0 ? 0x80 : UInt8(1) << UInt8(bits % 8 - 1)
        let key: JSON = ["kty": "RSA", "n": .string(Base64URL.encode(number)), "e": "AQAB"]
        let padded: JSON = ["kty": "RSA", "n": .string(Base64URL.encode([0] + number)), "e": "AQAB"]
        let found = try token(Self.claims).keys(in: ["keys": [key, padded, ["kty": "RSA", "e": "AQAB"]]])
        #expect(found == (isTaken ? [key, padded] : []))
    }

    @Test("the example of OpenID Connect Core §2 is accepted")
    func section2() throws {
        try check(Self.claims)
        try check(changed("aud", ["s6BhdRkqt3"]))
        var several = changed("aud", ["s6BhdRkqt3", "another"])
        several["azp"] = "s6BhdRkqt3"
        try check(several)
    }

    @Test(
        "a token with a wrong claim is refused",
        arguments: [
            ("iss", JSON.string("https://server.example.com/")), ("iss", nil), ("aud", "another"), ("aud", nil),
            ("aud", ["s6BhdRkqt3", "another"]), ("azp", "another"), ("nonce", "other"), ("nonce", nil), ("sub", ""),
            ("sub", nil), ("exp", 1_311_280_000), ("exp", nil), ("iat", 1_311_290_000), ("iat", nil),
            ("nbf", 1_311_290_000), ("exp", "1311281970"),
        ] as [(String, JSON?)])
    func wrong(name: String, value: JSON?) {
        let claims = changed(name, value)
        #expect(throws: IDTokenError.self) { () throws in try check(claims) }
    }

    @Test("at_hash must be that of OpenID Connect Core §A.3")
    func accessTokenHash() throws {
        let token = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"
        let claims = changed("at_hash", "77QmUPtjPfzWtF2AnpK9RQ")
        try check(claims, accessToken: token)
        #expect(throws: IDTokenError.self) { () throws in try check(claims, accessToken: "another") }
    }

    @Test(
        "no signature, a symmetric or unknown algorithm, and critical extensions are refused",
        arguments: [
            #"{"alg":"none"}"#, #"{"alg":"None"}"#, "{}", #"{"alg":"HS256"}"#, #"{"alg":"HS512"}"#, #"{"alg":"rs256"}"#,
            #"{"alg":"RS256","crit":["b64"],"b64":false}"#, #"{"alg":["RS256"]}"#,
        ])
    func algorithms(header: String) {
        #expect(throws: IDTokenError.self) { () throws in _ = try token(Self.claims, header: header) }
    }

    @Test("an invalid token is refused", arguments: ["", "a.b", "a.b.c.d", "e30.e30", "e30.W10.AA"])
    func noToken(text: String) {
        #expect(throws: IDTokenError.self) { () throws in _ = try IDToken(Secret(text)) }
    }

    @Test("only keys of the right type, use and name are tried")
    func keys() throws {
        func number(_ first: UInt8) -> JSON { .string(Base64URL.encode([first] + [UInt8](repeating: 1, count: 255))) }
        let (one, two) = (number(0x81), number(0x82))
        let set: JSON = [
            "keys": [
                ["kty": "oct", "k": "AA"], ["kty": "EC", "crv": "P-256"], ["kty": "RSA", "use": "enc", "n": one],
                ["kty": "RSA", "alg": "RS512", "n": one], ["kty": "RSA", "kid": "b", "n": one],
                ["kty": "RSA", "kid": "a", "n": one], ["kty": "RSA", "n": two],
            ]
        ]
        let named = try token(Self.claims, header: #"{"alg":"RS256","kid":"a"}"#)
        #expect(named.keys(in: set).map { $0["n"] } == [one, two])
        let anonymous = try token(Self.claims)
        #expect(anonymous.keys(in: set).count == 3)
    }

    @Test("the signature of RFC 7515 §A.3 is valid with its key only, and not after a change")
    func signature() async {
        let parts = [
            "eyJhbGciOiJFUzI1NiJ9",
            "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
        ]
        let key: JSON = [
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        ]
        // From RFC 7517 §A.1.
        let another: JSON = [
            "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        ]
        let token = Secret(parts.joined(separator: "."))
        #expect(await Self.cryptography.isSigned(token, by: key))
        #expect(await !Self.cryptography.isSigned(token, by: another))
        #expect(await !Self.cryptography.isSigned(token, by: ["kty": "EC"]))
        let bent = parts[0] + "." + parts[1].replacing("eyJpc3MiOiJqb2Ui", with: "eyJpc3MiOiJqb2Uj") + "." + parts[2]
        #expect(await !Self.cryptography.isSigned(Secret(bent), by: key))
    }

    @Test("a key whose server omits leading zeros of a coordinate is accepted")
    func shortCoordinates() async throws {
        let whole: JSON = [
            "kty": "EC", "crv": "P-256", "x": "AO6_TunG2dpyI8AMY5Y9qrt9GuhJ0ItV7RBVWGO_SMI",
            "y": "3uyvPsBsc8W_WJDKuS6d3fgm1se3Az6elAljpI5KGxg",
        ]
        let short: JSON = [
            "kty": "EC", "crv": "P-256", "x": "7r9O6cbZ2nIjwAxjlj2qu30a6EnQi1XtEFVYY79Iwg",
            "y": "3uyvPsBsc8W_WJDKuS6d3fgm1se3Az6elAljpI5KGxg",
        ]
        let parts = [
            "eyJhbGciOiJFUzI1NiJ9", "eyJpc3MiOiJqb2UifQ",
            "EkjJnb1VjbBk4OPnEctrWTR95uXx_3HN1Oj2mwBNbzh-eqS74D1a6yyHvqcHq24NwjdlvPMNr69v5Rou-053Jw",
        ]
        let token = try IDToken(Secret(parts.joined(separator: ".")))
        let keys = token.keys(in: ["keys": [short]])
        #expect(keys == [whole])
        #expect(await Self.cryptography.isSigned(token.text, by: try #require(keys.first)))
    }
}
