import AuthModel
import AuthTokens
import AuthWire
import Testing

@Suite("An authorization request and its response")
struct AuthorizationAttemptTests {
    private static let issuer = "https://honest.as.example"
    private static var oauth: OAuthProfile {
        var oauth = OAuthProfile(issuer: issuer, clientID: "s6BhdRkqt3", scopes: ["openid", "api"])
        oauth.parameters = [FormField("audience", "https://api.example")]
        return oauth
    }

    private func attempt(
        identifiesIssuer: Bool = true, endpoint: String? = issuer + "/authorize?tenant=1",
        methods: [String]? = ["S256"],
        proofKey: Secret? = nil
    ) throws(AgentError) -> AuthorizationAttempt {
        var profile = ProviderProfile(
            name: "example", title: "Example", source: "test", environments: [], defaultEnvironment: "", signIn: [],
            renewal: Renewal(kind: .refresh))
        profile.oauth = Self.oauth
        var server = OAuthServer(issuer: Self.issuer, endpoints: OAuthEndpoints())
        server.endpoints.authorization = endpoint
        server.identifiesIssuer = identifiesIssuer
        server.challengeMethods = methods
        return try AuthorizationAttempt(
            profile: profile, oauth: Self.oauth, server: server,
            redirectURI: "http://127.0.0.1:51004/callback", proofKey: proofKey, cryptography: SystemCryptography())
    }

    @Test("a code is bound to the key of its tokens (RFC 9449 §10)")
    func boundCode() throws {
        let key = SystemCryptography().makeKey()
        let known = try #require(SystemCryptography().publicKey(of: key))
        #expect(try sent(try attempt(proofKey: key))["dpop_jkt"] == known.thumbprint(SystemCryptography()))
        #expect(try sent(try attempt())["dpop_jkt"] == nil)
    }

    @Test("another agent's attempt has its challenge, state, nonce and key, and this agent's client and parameters")
    func lent() throws {
        let key = SystemCryptography().makeKey()
        let own = try attempt(proofKey: key)
        var profile = ProviderProfile(
            name: "example", title: "Example", source: "test", environments: [], defaultEnvironment: "", signIn: [],
            renewal: Renewal(kind: .refresh))
        var oauth = Self.oauth
        oauth.scopes = ["openid"]
        oauth.parameters = [FormField("audience", "https://other.example")]
        profile.oauth = oauth
        var server = OAuthServer(issuer: Self.issuer, endpoints: OAuthEndpoints())
        server.endpoints.authorization = "https://as.example/elsewhere"
        let lent = try AuthorizationAttempt(
            lending: own.lend, profile: profile, oauth: oauth, server: server, redirectURI: "http://127.0.0.1:9/cb")
        #expect(lent.url.hasPrefix("https://as.example/elsewhere?"))
        let (mine, theirs) = (try sent(lent), try sent(own))
        for name in ["code_challenge", "state", "nonce", "dpop_jkt", "client_id"] {
            #expect(mine[name] != nil && mine[name] == theirs[name], "\(name)")
        }
        #expect(mine["code_challenge_method"] == "S256" && mine["scope"] == "openid")
        #expect(mine["audience"] == "https://other.example" && mine["redirect_uri"] == "http://127.0.0.1:9/cb")
        #expect(lent.verifier == Secret("") && !lent.url.contains(own.verifier.reveal()))
        // The verifier is not among what is sent there.
        #expect(!String(decoding: own.lend.json.serialized(), as: UTF8.self).contains(own.verifier.reveal()))
        // Its response is that of the other agent's attempt.
        let state = try #require(mine["state"])
        #expect(own.read("code=c&state=\(state)" + iss(Self.issuer)) == .code(Secret("c")))
        #expect(lent.read("code=c&state=other") == .unrelated)
    }

    private func sent(_ attempt: AuthorizationAttempt) throws -> [FormField] {
        try #require(Form.decode(String(attempt.url.split(separator: "?", maxSplits: 1)[1])))
    }

    private func iss(_ issuer: String) -> String { "&iss=" + Form.encode(issuer) }

    @Test("the challenge is that of RFC 7636 Appendix B")
    func appendixB() {
        let challenge = AuthorizationAttempt.challenge(
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", SystemCryptography())
        #expect(challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test("bytes are encoded as in RFC 4648 §10 and RFC 7515 Appendix C")
    func base64URL() {
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
        #expect(Base64URL.encode(Array("foob".utf8)) == "Zm9vYg")
        #expect(Base64URL.random().utf8.count == 43)
        #expect(Base64URL.random() != Base64URL.random())
    }

    @Test("the address has every required parameter once, and differs each time")
    func request() throws {
        let first = try attempt()
        let fields = try sent(first)
        #expect(first.url.hasPrefix(Self.issuer + "/authorize?tenant=1&"))
        #expect(fields["response_type"] == "code")
        #expect(fields["client_id"] == "s6BhdRkqt3")
        #expect(fields["redirect_uri"] == "http://127.0.0.1:51004/callback")
        #expect(fields["scope"] == "openid api")
        #expect(fields["code_challenge_method"] == "S256")
        #expect(fields["audience"] == "https://api.example")
        #expect(fields["nonce"] == first.nonce)
        #expect(
            fields["code_challenge"]
                == AuthorizationAttempt.challenge(first.verifier.reveal(), SystemCryptography()))
        #expect(!first.url.contains(first.verifier.reveal()))
        let second = try sent(try attempt())
        for name in ["state", "nonce", "code_challenge"] { #expect(fields[name] != second[name]) }
    }

    @Test("a code needs the state that was sent and the expected issuer")
    func code() throws {
        let attempt = try attempt()
        let state = try #require(try sent(attempt)["state"])
        #expect(
            attempt.read("code=SplxlOBeZQQYbYS6WxSbIA&state=\(state)" + iss(Self.issuer))
                == .code(Secret("SplxlOBeZQQYbYS6WxSbIA")))
        #expect(
            attempt.read(address: "http://127.0.0.1:51004/callback?state=\(state)&code=a\(iss(Self.issuer))#_=_")
                == .code(Secret("a")))
    }

    @Test("a repeated state, issuer or code is an error, even if one of them is right")
    func repeated() throws {
        let attempt = try attempt()
        let state = try #require(try sent(attempt)["state"])
        for (name, query) in [
            ("state", "code=a&state=\(state)&state=\(state)" + iss(Self.issuer)),
            ("state", "code=a&state=b&state=\(state)" + iss(Self.issuer)),
            ("code", "code=a&code=b&state=\(state)" + iss(Self.issuer)),
            ("iss", "code=a&state=\(state)" + iss(Self.issuer) + iss("https://attacker.example")),
            ("iss", "code=a&state=\(state)" + iss(Self.issuer) + iss(Self.issuer)),
        ] {
            guard case .refused(let error) = attempt.read(query) else {
                Issue.record("taken: \(query)")
                continue
            }
            #expect(error.kind == .badReply && error.cause == "repeated_\(name)")
        }
    }

    @Test("a response with another state or none does not belong to this sign-in")
    func state() throws {
        let attempt = try attempt()
        let state = try #require(try sent(attempt)["state"])
        for query in [
            "code=a&state=b", "code=a", "code=a&state=b&state=c", "", "code=%zz&state=\(state)",
        ] {
            #expect(attempt.read(query + iss(Self.issuer)) == .unrelated, "\(query)")
        }
    }

    @Test(
        "another issuer, or none from a server that sends its issuer, is a mix-up (RFC 9207 §2.4)",
        arguments: ["&iss=https%3A%2F%2Fattacker.example", "", "&iss=https%3A%2F%2Fhonest.as.example%2F"])
    func mixUp(iss: String) throws {
        let attempt = try attempt()
        let state = try #require(try sent(attempt)["state"])
        guard case .refused(let error) = attempt.read("code=a&state=\(state)\(iss)") else {
            Issue.record("taken")
            return
        }
        #expect(error.cause == "iss")
    }

    @Test("a server that does not send its issuer may omit it, but may not name another one")
    func noIssuer() throws {
        let attempt = try attempt(identifiesIssuer: false)
        let state = try #require(try sent(attempt)["state"])
        #expect(attempt.read("code=a&state=\(state)") == .code(Secret("a")))
        guard case .refused = attempt.read("code=a&state=\(state)&iss=https%3A%2F%2Fattacker.example") else {
            Issue.record("taken")
            return
        }
    }

    @Test(
        "the server's refusal is reported with its message (RFC 6749 §4.1.2.1)",
        arguments: [
            ("access_denied", ErrorKind.denied), ("invalid_scope", .refused),
            ("temporarily_unavailable", .providerError),
        ])
    func refusal(code: String, kind: ErrorKind) throws {
        let attempt = try attempt()
        let state = try #require(try sent(attempt)["state"])
        let query = "error=\(code)&error_description=No%1B+way&state=\(state)" + iss(Self.issuer)
        guard case .refused(let error) = attempt.read(query) else {
            Issue.record("taken")
            return
        }
        #expect(error.kind == kind)
        #expect(error.providerMessage == "No way")
    }

    @Test("a server without the endpoint, or with plain challenges only, gets no request")
    func unsupported() {
        #expect(throws: AgentError.self) { try attempt(endpoint: nil) }
        #expect(throws: AgentError.self) { try attempt(methods: ["plain"]) }
    }

    @Test(
        "a loopback address is a redirect",
        arguments: [
            ("http://127.0.0.1/callback", "http://127.0.0.1:7/callback", false),
            ("http://[::1]:8765/cb", "http://[::1]:8765/cb", true),
            ("http://localhost", "http://localhost:7/", false),
            ("https://localhost/callback", "https://localhost:7/callback", false),
            ("https://127.0.0.1:8443/cb", "https://127.0.0.1:8443/cb", true),
        ])
    func redirect(text: String, uri: String, isFixed: Bool) throws {
        let redirect = try #require(LoopbackRedirect(text))
        #expect(redirect.uri(port: isFixed ? nil : 7) == uri)
        #expect((redirect.port != nil) == isFixed)
        #expect(redirect.isSecure == text.hasPrefix("https"))
        #expect(RedirectTarget(text) == .loopback(redirect))
    }

    @Test(
        "an address of another machine is not a redirect",
        arguments: [
            "https://example.org/", "http://example.org/", "http://127.0.0.1.example.org/", "http://127.0.0.1/?a=b",
            "http://127.0.0.2/", "authd://callback",
        ])
    func elsewhere(text: String) {
        #expect(LoopbackRedirect(text) == nil)
        #expect(RedirectTarget(text) == nil)
    }

    @Test(
        "a private scheme is a reversed domain (RFC 8252 §7.1)",
        arguments: [
            "com.example.app:/callback", "com.googleusercontent.apps.123-abc:/oauth2redirect", "org.example:/",
            "com.example.app://signed-in/here",
        ])
    func scheme(text: String) throws {
        let redirect = try #require(SchemeRedirect(text))
        #expect(redirect.uri == text)
        #expect(text.hasPrefix(redirect.scheme + ":"))
        #expect(RedirectTarget(text)?.uri == text)
    }

    @Test(
        "a scheme that another program may own, or an invalid one, is not a redirect",
        arguments: [
            "javascript:/alert(1)", "file:/etc/passwd", "mailto:/a", "myapp:/callback", "Com.Example.App:/callback",
            "com.example.app:callback", "com.example.app:", "com..app:/callback", ".com.app:/callback",
            "com.example.app.:/callback", "com.example_app:/callback", "com.example+app:/callback", "c.example:/cb",
            "3com.example:/cb", "soap.beep:/cb", "z39.50:/cb", "com.example.app:/callback?a=b",
            "com.example.app:/callback#a", "com.example.app:/a b", "com.example.app:/../etc", "com.-app:/callback",
            "com.example.app/callback", "",
        ])
    func strangeScheme(text: String) {
        #expect(RedirectTarget(text) == nil)
    }
}
