import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("Answers of the token endpoint")
struct TokenResponseTests {
    private static let json = "application/json"
    private static let now = WallTime(unixSeconds: 1_800_000_000)

    private func read(
        _ status: Int, _ body: String, type: String = json, purpose: ErrorDecoder.Purpose = .signIn
    ) throws -> Result<Grant, ProviderFailure> {
        let reply = HTTPResponse(status: status, headers: [("Content-Type", type)], body: Array(body.utf8))
        return TokenResponse(profile: try ExampleProvider.profile(), purpose: purpose, sentAt: Self.now).result(reply)
    }

    @Test("the answer of RFC 6749 §5.1 is read")
    func section5_1() throws {
        let grant = try read(
            200,
            """
            {"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"example","expires_in":3600,
             "refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA","example_parameter":"example_value"}
            """.replacing(#""token_type":"example""#, with: #""token_type":"Bearer""#)
        ).get()
        #expect(grant.accessToken?.reveal() == "2YotnFZFEjr1zCsicMWpAA")
        #expect(grant.refreshToken?.reveal() == "tGzv3JOkF0XG5Qx2TlKWIA")
        #expect(grant.expiresAt == Self.now + .seconds(3600))
        #expect(grant.tokenType == "Bearer")
    }

    @Test("scopes are words of RFC 6749 §3.3 and some kilobytes at most, whatever a provider sends")
    func scopes() throws {
        func scopes(_ text: String) throws -> [String]? {
            try read(200, #"{"access_token":"a","token_type":"Bearer","scope":"\#(text)"}"#).get().scopes
        }
        #expect(try scopes("read,write offline_access") == ["read", "write", "offline_access"])
        #expect(try scopes("read \\u001b[2J \\u202egnp write") == ["read", "write"])
        let many = try #require(try scopes(String(repeating: "scope-of-20-characters ", count: 40_000)))
        #expect((100...1000).contains(many.count) && Set(many) == ["scope-of-20-characters"])
    }

    /// As Slack documents them: the user's tokens are in an object, errors have status 200.
    @Test("tokens are read from the first object of the profile that has some, with the type of its provider")
    func tokenObjects() throws {
        var profile = try ExampleProvider.profile()
        var oauth = OAuthProfile(issuer: nil, clientID: "a")
        oauth.tokenEndpoint.tokenObjects = [try JSONPointer("/authed_user"), try JSONPointer("")]
        oauth.tokenEndpoint.bearerTypes = ["user"]
        oauth.tokenEndpoint.finalCodes = ["invalid_refresh_token"]
        profile.oauth = oauth
        func read(_ body: String, _ purpose: ErrorDecoder.Purpose = .signIn) -> Result<Grant, ProviderFailure> {
            let reply = HTTPResponse(status: 200, headers: [("Content-Type", Self.json)], body: Array(body.utf8))
            return TokenResponse(profile: profile, purpose: purpose, sentAt: Self.now).result(reply)
        }
        let both = try read(
            """
            {"ok":true,"access_token":"of the bot","refresh_token":"of the bot","token_type":"bot","authed_user":
             {"id":"U1","access_token":"mine","token_type":"user","expires_in":43200,"scope":"chat:write,users:read"}}
            """
        ).get()
        #expect(both.accessToken?.reveal() == "mine" && both.refreshToken == nil && both.tokenType == "Bearer")
        #expect(both.expiresAt == Self.now + .seconds(43200) && both.scopes == ["chat:write", "users:read"])
        let renewed = try read(
            #"{"ok":true,"access_token":"next","refresh_token":"r","token_type":"user","authed_user":{"id":"U1"}}"#,
            .renewal
        ).get()
        #expect(renewed.accessToken?.reveal() == "next" && renewed.refreshToken?.reveal() == "r")
        for (code, isFinal) in [("invalid_refresh_token", true), ("invalid_grant", true), ("internal_error", false)] {
            guard case .failure(let failure) = read(#"{"ok":false,"error":"\#(code)"}"#, .renewal) else {
                return #expect(Bool(false), "\(code)")
            }
            if case .final = failure { #expect(isFinal, "\(code)") } else { #expect(!isFinal, "\(code)") }
        }
        guard case .failure = read(#"{"ok":true,"authed_user":{"access_token":"a","token_type":"mac"}}"#) else {
            return #expect(Bool(false), "a token of an unknown type was read")
        }
    }

    @Test("a kind of token that we do not know is none for us (RFC 6749 §7.1)")
    func unknownType() throws {
        let answer = try read(200, #"{"access_token":"a","token_type":"mac"}"#)
        guard case .failure(.temporary(let error, _)) = answer else { return #expect(Bool(false), "\(answer)") }
        #expect(error.kind == .badReply)
        #expect(error.cause == "token_type")
    }

    @Test(
        "a token that was to be bound to a key is one, and no other is taken for it (RFC 9449 §5)",
        arguments: [("DPoP", true), ("dpop", true), ("Bearer", false), ("", false)])
    func bound(type: String, isTaken: Bool) throws {
        let body = type.isEmpty ? #"{"access_token":"a"}"# : #"{"access_token":"a","token_type":"\#(type)"}"#
        let reply = HTTPResponse(status: 200, headers: [("Content-Type", Self.json)], body: Array(body.utf8))
        let answer = TokenResponse(
            profile: try ExampleProvider.profile(), purpose: .signIn, sentAt: Self.now, isBound: true
        ).result(reply)
        switch answer {
        case .success(let grant): #expect(isTaken && grant.tokenType == "DPoP")
        case .failure(let failure): #expect(!isTaken && failure.error.cause == "token_type")
        }
    }

    @Test(
        "what real providers send is read too",
        arguments: [
            (#"{"access_token":"a","token_type":"bearer","expires_in":"3600"}"#, json, true),
            (#"{"access_token":"a"}"#, json, false),
            (#"{"access_token":"a","token_type":"bearer","scope":"a,b"}"#, json, false),
            ("access_token=a&scope=a%2Cb&token_type=bearer&expires_in=3600", "application/x-www-form-urlencoded", true),
            ("access_token=a&token_type=bearer", "text/plain", false),
        ])
    func odd(body: String, type: String, ends: Bool) throws {
        let grant = try read(200, body, type: type).get()
        #expect(grant.accessToken?.reveal() == "a")
        #expect(grant.tokenType == "Bearer")
        #expect(grant.expiresAt == (ends ? Self.now + .seconds(3600) : nil))
        #expect(grant.refreshToken == nil)
    }

    @Test(
        "the end of a refresh token is read by either of its names; zero and nonsense are none",
        arguments: [
            ("refresh_expires_in", "1800", 1800.0), ("refresh_token_expires_in", "\"15811200\"", 15_811_200),
            ("refresh_expires_in", "0", nil), ("refresh_expires_in", "\"soon\"", nil),
            ("refresh_expires_in", "\"1e3\"", 1000), ("refresh_token_expires_in", "\"+5\"", 5),
            ("refresh_token_expires_in", "\"3600\"", 3600), ("refresh_token_expires_in", "\"1e999\"", nil),
            ("refresh_expires_in", "\"nan\"", nil), ("refresh_expires_in", "\"\"", nil),
        ] as [(String, String, Double?)])
    func refreshEnd(name: String, value: String, seconds: Double?) throws {
        let grant = try read(200, #"{"access_token":"a","refresh_token":"r","\#(name)":\#(value)}"#).get()
        #expect(grant.refreshEndsAt == seconds.map { Self.now + .seconds($0) })
    }

    @Test("scopes are read by spaces and by commas", arguments: ["a b", "a,b", "a, b"])
    func scopes(text: String) throws {
        let grant = try read(200, #"{"access_token":"a","scope":"\#(text)"}"#).get()
        #expect(grant.scopes == ["a", "b"])
    }

    @Test("only invalid_grant at a renewal is final", arguments: [400, 401, 403])
    func invalidGrant(status: Int) throws {
        let body = #"{"error":"invalid_grant","error_description":"Token is used"}"#
        let renewal = try read(status, body, purpose: .renewal)
        guard case .failure(.final(let error)) = renewal else { return #expect(Bool(false), "\(renewal)") }
        #expect(error.providerMessage == "Token is used")
        guard case .failure(.refused) = try read(status, body) else {
            return #expect(Bool(false), "a sign-in has nothing to end")
        }
    }

    @Test("an error inside a success is one, and a final one is final there too")
    func errorAsSuccess() throws {
        let renewal = try read(200, #"{"error":"invalid_grant"}"#, purpose: .renewal)
        guard case .failure(.final) = renewal else { return #expect(Bool(false), "\(renewal)") }
        guard case .failure(let failure) = try read(200, "error=bad_verification_code", type: "text/plain") else {
            return #expect(Bool(false), "it holds no token")
        }
        #expect(failure.error.cause == "bad_verification_code")
    }

    @Test("JSON with an error that is labelled as a page is that error; other JSON with that label is a page")
    func labelledAsPage() throws {
        let page = "text/html; charset=utf-8"
        let error = try read(400, #"{"error":"invalid_grant"}"#, type: page, purpose: .renewal)
        guard case .failure(.final(let found)) = error else { return #expect(Bool(false), "\(error)") }
        #expect(found.providerMessage == "invalid_grant")
        for body in [#"{"message":"x"}"#, #"{"error":{"code":"invalid_grant"}}"#, #"["error"]"#] {
            let other = try read(400, body, type: page, purpose: .renewal)
            guard case .failure(.temporary(let found, _)) = other else { return #expect(Bool(false), "\(other)") }
            #expect(found.cause == "html", "\(body)")
        }
    }

    @Test("a response with a token challenge is not a page, whatever its body is", arguments: ["Bearer", "DPoP"])
    func challenge(scheme: String) {
        func isPage(_ challenge: String) -> Bool {
            let reply = HTTPResponse(
                status: 401, headers: [("Content-Type", "text/html"), ("WWW-Authenticate", challenge)],
                body: Array("<h1>401</h1>".utf8))
            return if case .page = ResponseBody(reply) { true } else { false }
        }
        #expect(!isPage(#"\#(scheme) error="invalid_token""#))
        #expect(isPage(#"Basic realm="proxy""#))
    }

    @Test(
        "nothing else ends a session",
        arguments: [
            (400, "", json), (401, #"{"error":"invalid_client"}"#, json),
            (400, #"{"error":"unauthorized_client"}"#, json),
            (503, #"{"error":"invalid_grant"}"#, json), (429, #"{"error":"invalid_grant"}"#, json),
            (400, "<html>invalid_grant</html>", "text/html"), (200, "<html>Please pay</html>", "text/html"),
            (200, "{}", json), (302, "", json), (400, #"{"error":{"code":"invalid_grant"}}"#, json),
        ])
    func notFinal(status: Int, body: String, type: String) throws {
        let answer = try read(status, body, type: type, purpose: .renewal)
        guard case .failure(.temporary) = answer else { return #expect(Bool(false), "\(answer)") }
    }
}
