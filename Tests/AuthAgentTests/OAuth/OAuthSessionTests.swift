import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthTokens
import AuthWire
import Synchronization
import Testing

/// Sessions at an authorization server whose every response the test writes.
@Suite("OAuth: what a session registry requests from its server", .timeLimit(.minutes(1)))
struct OAuthSessionTests {
    private static let issuer = "http://127.0.0.1:1/o"
    private static let openIDPlace = "GET \(issuer)/.well-known/openid-configuration"
    private static let oauthPlace = "GET http://127.0.0.1:1/.well-known/oauth-authorization-server/o"

    /// Requests for tokens of one provider keep this distance.
    private static let turn = RenewalQueue.spacing

    private static func metadata(_ members: JSONObject, issuer: String = issuer) -> HTTPResponse {
        var object = members
        object["issuer"] = .string(issuer)
        object["token_endpoint"] = "http://127.0.0.1:1/token"
        return ExampleProvider.json(200, JSON.object(object).text())
    }

    private static func page(_ status: Int) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "text/html")], body: Array("<p>no</p>".utf8))
    }

    /// What came, by method and address, with its form.
    private struct Seen: Sendable {
        let request: String
        let form: [FormField]
        let authorization: String?
        let closesConnection: Bool
    }

    private static func profile(
        resource: String? = nil, targeted: Bool = true, authentication: ClientAuthentication = .none
    ) -> OAuthProfile {
        var profile = OAuthProfile(issuer: issuer, clientID: "authd", scopes: ["read", "write"])
        profile.clientAuthentication = authentication
        profile.resource = resource
        profile.givesTargetedTokens = targeted
        return profile
    }

    /// - Parameter answer: of every request, as method and address, and how many of the same came before.
    private func play(
        _ oauth: OAuthProfile = Self.profile(), scopes: TokenScopes? = nil,
        _ answer: @escaping @Sendable (_ request: String, _ earlier: Int) -> HTTPResponse,
        _ test: @escaping @Sendable (SessionRequests, APIClient, ManualClock) async throws -> Void
    ) async throws -> [Seen] {
        let seen = Mutex<[Seen]>([])
        let transport = ScriptedTransport { request throws(TransportError) in
            let name = "\(request.method) \(request.url)"
            let earlier = seen.withLock { seen in
                let earlier = seen.count { $0.request == name }
                seen.append(
                    Seen(
                        request: name, form: request.body.flatMap { Form.decode($0.reveal()) } ?? [],
                        authorization: request.headers.first { $0.name == "Authorization" }?.value.reveal(),
                        closesConnection: request.closesConnection))
                return earlier
            }
            return answer(name, earlier)
        }
        let store = MemoryStore()
        let now = ManualClock().now().wall
        let tokens = TokenSet(
            accessToken: Secret("token-1"), refreshToken: Secret("refresh-1"), issuedAt: now,
            expiresAt: now + .seconds(1000), scopes: scopes)
        try await store.save(
            SessionRecord(
                session: try SessionName("example"), provider: "example", environment: "local", method: "browser",
                tokens: tokens, user: nil, rawUser: nil, signedInAt: now, clientSecret: Secret("pw")))
        let example = try ExampleProvider(store: store, transport: transport) { profile in
            profile.oauth = oauth
            profile.signIn = oauth.methods
            profile.renewal = Renewal(kind: .refresh)
            profile.errors = ErrorMap()
        }
        try await example.running { sessions, _ in try await test(sessions, example.apiClient, example.clock) }
        return seen.withLock { $0 }
    }

    private static let session = SessionParams(session: nil)
    private static let renewed = ExampleProvider.json(
        200, #"{"access_token":"token-2","token_type":"Bearer","expires_in":1000,"refresh_token":"refresh-2"}"#)

    @Test("a request for a token closes its connection, which requests before it may have used")
    func connections() async throws {
        let seen = try await play { request, earlier in
            if request.hasPrefix("GET") { return Self.metadata([:]) }
            return earlier == 0
                ? Self.renewed : ExampleProvider.json(200, #"{"access_token":"targeted","expires_in":1000}"#)
        } _: { sessions, _, clock in
            _ = try await sessions.refresh(Self.session)
            clock.advance(Self.turn)
            _ = try await sessions.token(TokenGet(scopes: ["read"]))
        }
        #expect(seen.contains { !$0.closesConnection })
        let closing = seen.filter(\.closesConnection).map(\.request)
        #expect(closing == Array(repeating: "POST http://127.0.0.1:1/token", count: 2))
    }

    @Test("both metadata documents of an issuer count, and a sign-out finds the endpoint that only one of them has")
    func merged() async throws {
        let seen = try await play { request, _ in
            switch request {
            case Self.openIDPlace: Self.metadata(["userinfo_endpoint": "http://127.0.0.1:1/userinfo"])
            case Self.oauthPlace: Self.metadata(["revocation_endpoint": "http://127.0.0.1:1/revoke"])
            default: ExampleProvider.json(200, "{}")
            }
        } _: { sessions, _, _ in
            let status = try await sessions.logout(SessionLogout(session: nil, revoke: true))
            #expect(status.message == nil)
        }
        #expect(seen.count { $0.request == "POST http://127.0.0.1:1/revoke" } == 2)
    }

    @Test("a sign-out revokes tokens for one scope or audience too, after the session's own, and not if that failed")
    func targeted() async throws {
        for isAccepted in [true, false] {
            let seen = try await play { request, earlier in
                if request.hasPrefix("GET") {
                    return Self.metadata(["revocation_endpoint": "http://127.0.0.1:1/revoke"])
                }
                if request.hasSuffix("revoke") { return ExampleProvider.json(isAccepted ? 200 : 503, "{}") }
                return ExampleProvider.json(200, #"{"access_token":"targeted-\#(earlier)","expires_in":1000}"#)
            } _: { sessions, _, clock in
                _ = try await sessions.token(TokenGet(scopes: ["read"]))
                clock.advance(Self.turn)
                _ = try await sessions.token(TokenGet(scopes: ["write"]))
                _ = try await sessions.logout(SessionLogout(session: nil, revoke: true))
            }
            let revoked = seen.filter { $0.request.hasSuffix("revoke") }.map { $0.form["token"] }
            #expect(revoked.prefix(2) == ["refresh-1", "token-1"])
            #expect(Set(revoked.dropFirst(2)) == (isAccepted ? ["targeted-0", "targeted-1"] : []))
        }
    }

    @Test("a document of another issuer adds nothing to that of the right one")
    func stranger() async throws {
        let seen = try await play { request, _ in
            switch request {
            case Self.openIDPlace: Self.metadata([:])
            case Self.oauthPlace:
                Self.metadata(["revocation_endpoint": "http://127.0.0.1:1/revoke"], issuer: "http://127.0.0.1:1")
            default: ExampleProvider.json(200, "{}")
            }
        } _: { sessions, _, _ in
            let status = try await sessions.logout(SessionLogout(session: nil, revoke: true))
            #expect(status.message?.contains("offers no revocation") == true, "\(status.message ?? "")")
        }
        #expect(!seen.contains { $0.request.contains("revoke") })
    }

    @Test("one document is enough if the server has no other one")
    func oneDocument() async throws {
        for place in [Self.openIDPlace, Self.oauthPlace] {
            let seen = try await play { request, _ in
                if request == place { return Self.metadata([:]) }
                return request.hasPrefix("POST") ? Self.renewed : Self.page(404)
            } _: { sessions, _, _ in
                let status = try await sessions.refresh(Self.session)
                #expect(status.state == .active)
            }
            #expect(seen.map(\.request) == [Self.openIDPlace, Self.oauthPlace, "POST http://127.0.0.1:1/token"])
        }
    }

    @Test("the profile's resource is in every request for tokens, and a program's own audience takes its place")
    func resource() async throws {
        let api = "https://api.example.org/v1"
        let seen = try await play(Self.profile(resource: api)) { request, _ in
            request.hasPrefix("GET") ? Self.metadata([:]) : Self.renewed
        } _: { sessions, _, clock in
            _ = try await sessions.refresh(Self.session)
            clock.advance(Self.turn)
            _ = try await sessions.token(TokenGet(scopes: ["read"]))
            clock.advance(Self.turn)
            _ = try await sessions.token(TokenGet(audience: "https://other.example.org/"))
        }
        let sent = seen.filter { $0.request.hasPrefix("POST") }.map { $0.form.filter { $0.name == "resource" } }
        #expect(
            sent == [
                [FormField("resource", api)], [FormField("resource", api)],
                [FormField("resource", "https://other.example.org/")],
            ])
    }

    @Test("a server that looks for the client's name in the form gets it there too, and at once the next time")
    func clientInForm() async throws {
        let seen = try await play(Self.profile(authentication: .basic)) { request, earlier in
            if request.hasPrefix("GET") { return Self.metadata([:]) }
            return earlier == 0 ? ExampleProvider.json(401, #"{"error":"invalid_client"}"#) : Self.renewed
        } _: { sessions, _, clock in
            for _ in 0..<2 {
                let status = try await sessions.refresh(Self.session)
                #expect(status.state == .active)
                clock.advance(Self.turn)
            }
        }
        let sent = seen.filter { $0.request.hasPrefix("POST") }
        #expect(sent.map { $0.form["client_id"] } == [nil, "authd", "authd"])
        #expect(sent.allSatisfy { $0.authorization?.hasPrefix("Basic ") == true })
    }

    @Test("after a token for a scope, all scopes are requested back; if they are refused, status says what was lost")
    func narrowed() async throws {
        for isGivenBack in [true, false] {
            let scopes = TokenScopes(granted: ["read", "write"])
            let seen = try await play(scopes: scopes) { request, earlier in
                if request.hasPrefix("GET") { return Self.metadata([:]) }
                // The first one is the program's.
                let wasRefused = earlier == 1 && !isGivenBack
                if wasRefused { return ExampleProvider.json(400, #"{"error":"invalid_scope"}"#) }
                let scope = earlier == 1 ? "read write" : "read"
                return ExampleProvider.json(
                    200,
                    #"{"access_token":"t\#(earlier)","expires_in":1000,"scope":"\#(scope)","refresh_token":"r\#(earlier)"}"#
                )
            } _: { sessions, _, clock in
                _ = try await sessions.token(TokenGet(scopes: ["read"]))
                clock.advance(Self.turn)
                let token = try await sessions.token(TokenGet())
                #expect(token.accessToken == (isGivenBack ? "t1" : "t2"))
                let status = try sessions.status(nil)
                #expect(status.state == .active)
                #expect(status.scopes == (isGivenBack ? ["read", "write"] : ["read"]))
                #expect(status.cause == (isGivenBack ? nil : "scope_reduced"))
            }
            let sent = seen.filter { $0.request.hasPrefix("POST") }.map { $0.form["scope"] }
            #expect(sent == (isGivenBack ? ["read", "read write"] : ["read", "read write", nil]))
        }
    }

    @Test("a profile may turn tokens for one scope or audience off")
    func noTargetedTokens() async throws {
        let seen = try await play(Self.profile(targeted: false)) { _, _ in
            Self.renewed
        } _: { sessions, _, _ in
            let error = await #expect(throws: AgentError.self) {
                try await sessions.token(TokenGet(audience: "https://api.example.org"))
            }
            #expect(error?.kind == .unsupported && error?.message.contains("targeted_tokens") == true)
        }
        #expect(seen.isEmpty)
    }

    @Test("a 401 in JSON that is labelled as a page renews the session, and the call is sent again")
    func labelledAsPage() async throws {
        let challenge = #"Bearer realm="api", error="invalid_token", error_description="It was revoked, sorry""#
        for body in [#"{"error":"invalid_token"}"#, "", "<h1>401</h1>"] {
            let seen = try await play { request, earlier in
                switch request {
                case "GET http://localhost:1/things?n=1" where earlier == 0:
                    HTTPResponse(
                        status: 401, headers: [("Content-Type", "text/html"), ("WWW-Authenticate", challenge)],
                        body: Array(body.utf8))
                case "GET http://localhost:1/things?n=1": ExampleProvider.json(200, "1")
                case "POST http://127.0.0.1:1/token": Self.renewed
                default: Self.metadata([:])
                }
            } _: { _, api, clock in
                clock.advance(.seconds(400))
                let answer = try await api.request(APIClientTests.get)
                #expect(answer.body == 1)
            }
            #expect(seen.last?.authorization == "Bearer token-2", "\(body)")
        }
    }

    @Test("validate queries UserInfo, or introspection if UserInfo is not for this session", arguments: [true, false])
    func validate(hasUserInfo: Bool) async throws {
        let seen = try await play { request, _ in
            switch request {
            case Self.openIDPlace:
                Self.metadata([
                    "userinfo_endpoint": "http://127.0.0.1:1/userinfo",
                    "introspection_endpoint": "http://127.0.0.1:1/introspect",
                ])
            case "GET http://127.0.0.1:1/userinfo":
                hasUserInfo
                    ? ExampleProvider.json(200, #"{"sub":"7","email":"ada@example.org"}"#)
                    : ExampleProvider.json(403, #"{"error":"insufficient_scope"}"#)
            case "POST http://127.0.0.1:1/introspect": ExampleProvider.json(200, #"{"active":false}"#)
            case "POST http://127.0.0.1:1/token": Self.renewed
            default: Self.page(404)
            }
        } _: { sessions, _, _ in
            let status = try await sessions.validate(Self.session)
            #expect(status.state == .active && (status.user != nil) == hasUserInfo)
            guard !hasUserInfo else { return }
            // The renewed one is refused too, and another renewal would not help.
            let error = await #expect(throws: AgentError.self) { try await sessions.validate(Self.session) }
            #expect(error?.message.contains("not active") == true)
        }
        let posts = ["POST http://127.0.0.1:1/introspect", "POST http://127.0.0.1:1/token"]
        #expect(seen.map(\.request).filter { $0.hasPrefix("POST") } == (hasUserInfo ? [] : posts + [posts[0]]))
    }

    @Test(
        "validate reports that a server without UserInfo and introspection has nothing to query, and sends it no token")
    func nothingToQuery() async throws {
        let seen = try await play { _, _ in
            Self.metadata([:])
        } _: { sessions, _, _ in
            let status = try await sessions.validate(Self.session)
            #expect(status.state == .active)
            #expect(
                status.message?.hasPrefix(
                    "There is nothing to query: Example offers neither UserInfo nor introspection to this client.")
                    == true, "\(status.message ?? "")")
        }
        #expect(seen.allSatisfy { $0.request.hasPrefix("GET ") && $0.authorization == nil })
    }
}
