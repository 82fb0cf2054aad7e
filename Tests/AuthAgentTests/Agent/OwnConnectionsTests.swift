import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@testable import AuthAgent

@Suite("Connections that kept a secret", .timeLimit(.minutes(1)))
struct OwnConnectionsTests {
    private static func profile(_ name: String, at url: String) throws -> ProviderProfile {
        var profile = try ExampleProvider.profile()
        (profile.name, profile.title) = (name, name)
        profile.environments = [ProviderEnvironment(name: "local", baseURL: url)]
        return profile
    }

    @Test("are closed when a session has a new token or ends, and those of other providers stay")
    func ownOnly() async throws {
        let transport = ExampleProvider.numbering()
        let catalog = ProfileCatalog([
            try Self.profile("here", at: "http://localhost:1"), try Self.profile("there", at: "http://localhost:2/api"),
        ])
        let example = try ExampleProvider(transport: transport, catalog: catalog)
        let run = Task { await example.loader.run() }
        await example.loader.ready()
        let (sessions, signIns) = (example.sessions, example.signIns)
        for provider in ["here", "there"] {
            _ = try await signIns.start(LoginStart(provider: provider, fields: SessionRegistryTests.fields))
        }
        let there = try SessionName("there")
        _ = try await sessions.refresh(SessionParams(session: there))
        _ = try await sessions.logout(SessionLogout(session: there))
        run.cancel()
        // What was ordered is done when it has ended.
        await run.value
        let closed = transport.closed
        #expect(closed.count { $0 == "http://localhost:1" } == 1)
        #expect(closed.count { $0 == "http://localhost:2" } >= 3)
        #expect(transport.dropped == 0)
    }

    @Test("stay open when a session is restored, whose token they have not had")
    func restored() async throws {
        let (store, transport) = (MemoryStore(), ExampleProvider.numbering())
        let now = ManualClock().now().wall
        try await store.save(
            SessionRecord(
                session: try SessionName("work"), provider: "example", environment: "local", method: "password",
                tokens: TokenSet(accessToken: Secret("token-0"), issuedAt: now, expiresAt: now + .seconds(1000)),
                user: nil, rawUser: nil, signedInAt: now, generation: 1, revision: 1))
        let example = try ExampleProvider(store: store, transport: transport)
        let run = Task { await example.loader.run() }
        await example.loader.ready()
        #expect(example.sessions.liveToken(TokenGet()) != nil)
        _ = try await example.sessions.refresh(SessionParams())
        run.cancel()
        await run.value
        #expect(transport.closed == ["http://localhost:1"])
    }

    @Test("are closed after the last request of a renewal, and of a sign-in if no request for its user follows")
    func lastRequest() async throws {
        for fetchesUser in [false, true] {
            let numbers = Counter()
            let transport = ScriptedTransport { request throws(TransportError) in
                switch request.method {
                case "GET": ExampleProvider.json(200, #"{"user":{"id":"7"}}"#)
                default: ExampleProvider.json(200, #"{"token":"token-\#(numbers.next())","expires_in":1000}"#)
                }
            }
            let example = try ExampleProvider(transport: transport) {
                $0.signIn[0].before = [RequestTemplate(method: "GET", path: try Template(parsing: "/before"))]
                guard fetchesUser else { return }
                $0.userRequest = UserRequest(
                    request: RequestTemplate(method: "GET", path: try Template(parsing: "/user"), bearer: true),
                    user: [try JSONPointer("/user")])
            }
            try await example.running { sessions, signIns in
                _ = try await signIns.start(
                    LoginStart(provider: "example", fields: SessionRegistryTests.fields, remember: true))
                // The token renews itself, but not after its end.
                example.clock.advance(.seconds(500))
                _ = try await sessions.refresh(SessionParams())
                example.clock.advance(.seconds(2000))
                _ = try await sessions.token(SessionRegistryTests.get)
            }
            let login = "POST http://localhost:1/login"
            #expect(
                example.transport.closing == (fetchesUser ? [] : [login]) + ["POST http://localhost:1/refresh", login])
            #expect(example.transport.asked.count { $0.hasSuffix("/before") } == 2)
        }
    }

    @Test("stay open if the server may want the request again with another proof")
    func proof() {
        var request = HTTPRequest(method: "POST", url: "https://tokens.example.org/token")
        #expect(request.closingConnection().closesConnection)
        #expect(!request.closingConnection(if: false).closesConnection)
        request.prove(nil, with: Secret("key"))
        #expect(!request.closingConnection().closesConnection)
    }

    @Test("are at every place of the provider's authorization server too")
    func authorizationServer() async throws {
        var profile = try ExampleProvider.profile()
        profile.oauth = OAuthProfile(issuer: "https://id.example.org/tenant", clientID: "authd")
        profile.oauth?.endpoints.revocation = "https://revoke.example.org/token"
        let calls = ProviderClient(
            profiles: ProfileCatalog([profile]), transport: ExampleProvider.numbering(),
            signer: ProofSigner(cryptography: nil, clock: ManualClock(), skew: { _ in .zero }))
        await calls.servers.keep(
            ["issuer": "https://id.example.org/tenant", "token_endpoint": "https://tokens.example.org/token"],
            of: "https://id.example.org/tenant", .metadata, for: nil, at: ManualClock().now().boot)
        let status = SessionStatus(
            session: try SessionName("example"), provider: "example", environment: "local", state: .active)
        #expect(
            await calls.origins(of: status).map(\.text).sorted() == [
                "http://localhost:1", "https://id.example.org", "https://revoke.example.org",
                "https://tokens.example.org",
            ])
    }
}
