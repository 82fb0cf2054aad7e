import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("A profile that leads elsewhere", .timeLimit(.minutes(1)))
struct OriginChangeTests {
    private static let here = "http://localhost:1"
    private static let elsewhere = "http://localhost:2"

    private static func profile(at base: String) throws -> ProfileCatalog {
        var profile = try ExampleProvider.profile()
        profile.environments[0].baseURL = base
        profile.validation = RequestTemplate(method: "GET", path: try Template(parsing: "/validate"), bearer: true)
        profile.userRequest = UserRequest(
            request: RequestTemplate(method: "GET", path: try Template(parsing: "/me"), bearer: true),
            user: [try JSONPointer("/user")])
        return ProfileCatalog([profile])
    }

    private static func sent(_ example: ExampleProvider, to base: String) -> [String] {
        example.transport.asked.filter { $0.contains(base + "/") }
    }

    private static func expectBlocked(_ sessions: SessionRequests, _ example: ExampleProvider) async throws {
        let status = try sessions.status(nil)
        #expect(status.state == .signInRequired && status.cause == "origin_changed")
        #expect(status.message?.contains(here) == true && status.message?.contains(elsewhere) == true)
        #expect(status.message?.contains("authc trust -s example") == true)
        #expect(sessions.liveToken(TokenGet()) == nil)
        let session = SessionParams()
        let api = example.apiClient
        let attempts: [@Sendable () async throws -> Void] = [
            { _ = try await sessions.token(TokenGet()) }, { _ = try await sessions.refresh(session) },
            { _ = try await sessions.validate(session) }, { _ = try await sessions.user(UserGet(fresh: true)) },
            { _ = try await api.request(APIRequest(method: "GET", path: "/things")) },
        ]
        for attempt in attempts {
            let error = await #expect(throws: AgentError.self) { try await attempt() }
            #expect(error?.kind == .signInRequired && error?.cause == "origin_changed")
        }
        #expect(sent(example, to: elsewhere).isEmpty)
    }

    @Test("gets nothing of a session until the former profile is back: then the session goes on as it was")
    func reloaded() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            await sessions.registry.reload(try Self.profile(at: Self.elsewhere))
            try await Self.expectBlocked(sessions, example)
            // A renewal that comes due sends nothing either.
            example.clock.advance(.seconds(2000))
            await sessions.registry.reload(try Self.profile(at: Self.elsewhere))
            #expect(Self.sent(example, to: Self.elsewhere).isEmpty)
            await sessions.registry.reload(try Self.profile(at: "HTTP://LOCALHOST:1"))
            #expect(try await sessions.token(TokenGet()).accessToken == "token-2")
            #expect(try await example.store.loadAll().count == 1)
        }
    }

    @Test("gets nothing when the agent is started with it")
    func started() async throws {
        let store = MemoryStore()
        let first = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await first.running { _, signIns in _ = try await signIns.start(SessionRegistryTests.start) }
        let second = try ExampleProvider(store: store, transport: ExampleProvider.numbering()) {
            $0.environments[0].baseURL = Self.elsewhere
        }
        try await second.running { sessions, _ in try await Self.expectBlocked(sessions, second) }
        #expect(try await store.load(SessionName("example"))?.tokens.accessToken == Secret("token-1"))
    }

    @Test("a record from before origins were recorded takes the profile's when it is first read")
    func firstSight() async throws {
        let store = MemoryStore()
        let first = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await first.running { _, signIns in _ = try await signIns.start(SessionRegistryTests.start) }
        var old = try #require(try await store.load(SessionName("example")))
        old.origins = nil
        try await store.save(old)
        let second = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await second.running { sessions, _ in
            #expect(try await sessions.token(TokenGet()).accessToken == "token-1")
            await sessions.registry.drain()
            await sessions.registry.reload(try Self.profile(at: Self.elsewhere))
            try await Self.expectBlocked(sessions, second)
        }
        #expect(try await store.load(SessionName("example"))?.origins != nil)
    }

    @Test("is trusted by the user's agreement to the very places that it names, and by no other")
    func trusted() async throws {
        let store = MemoryStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let same = try await sessions.trust(SessionTrust())
            #expect(same.origins.isEmpty && !same.isTrusted)
            await sessions.registry.reload(try Self.profile(at: Self.elsewhere))
            let shown = try await sessions.trust(SessionTrust())
            #expect(shown.former == [Self.here] && shown.origins == [Self.elsewhere] && !shown.isTrusted)
            try await Self.expectBlocked(sessions, example)
            for wrong in [[], [Self.here], [Self.elsewhere, "http://localhost:3"]] {
                let error = await #expect(throws: AgentError.self) {
                    try await sessions.trust(SessionTrust(origins: wrong))
                }
                #expect(error?.kind == .conflict)
            }
            let done = try await sessions.trust(SessionTrust(origins: [Self.elsewhere]))
            #expect(done.isTrusted && done.status.state == .active)
            #expect(try await sessions.token(TokenGet()).accessToken == "token-1")
            _ = try await sessions.refresh(SessionParams())
            #expect(Self.sent(example, to: Self.elsewhere) == ["POST \(Self.elsewhere)/refresh"])
            // The former place is not trusted any more.
            await sessions.registry.reload(try Self.profile(at: Self.here))
            #expect(try sessions.status(nil).cause == "origin_changed")
        }
        let record = try await store.load(SessionName("example"))
        let place = try #require(Origin(of: Self.elsewhere))
        #expect(record?.origins?.allows(.all, at: place) == true)
    }

    @Test("is trusted by a new sign-in there")
    func signedInAgain() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            await sessions.registry.reload(try Self.profile(at: Self.elsewhere))
            #expect(try await signIns.start(SessionRegistryTests.start).status?.state == .active)
            #expect(try await sessions.token(TokenGet()).accessToken == "token-2")
        }
    }

    @Test("a sign-out deletes the session and says that the provider was not notified")
    func signedOut() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering()) {
            $0.signOut = RequestTemplate(method: "POST", path: try Template(parsing: "/logout"), bearer: true)
        }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            var changed = try ExampleProvider.profile()
            changed.environments[0].baseURL = Self.elsewhere
            changed.signOut = RequestTemplate(method: "POST", path: try Template(parsing: "/logout"), bearer: true)
            await sessions.registry.reload(ProfileCatalog([changed]))
            let last = try await sessions.logout(SessionLogout())
            #expect(last.state == .signedOut && last.message?.contains(Self.elsewhere) == true)
            #expect(Self.sent(example, to: Self.elsewhere).isEmpty)
            #expect(try await example.store.loadAll().isEmpty)
        }
    }
}

@Suite("Every request with a session's tokens or credentials is checked where it is sent")
struct OriginGuardTests {
    private static let clock = ManualClock()

    private static func calls(_ profile: ProviderProfile, _ transport: ScriptedTransport) -> ProviderClient {
        ProviderClient(
            profiles: ProfileCatalog([profile]), transport: transport,
            signer: ProofSigner(cryptography: nil, clock: clock, skew: { _ in .zero }))
    }

    private static func isRefused(_ request: @autoclosure () async throws(ProviderFailure) -> Any?) async -> Bool {
        do throws(ProviderFailure) {
            _ = try await request()
            return false
        } catch {
            return error.error.kind == .signInRequired && error.error.cause == "origin_changed"
        }
    }

    @Test("with a profile that has its own requests", arguments: [Renewal.Kind.refresh, .signIn])
    func ownRequests(kind: Renewal.Kind) async throws {
        let transport = ScriptedTransport { _ throws(TransportError) in ExampleProvider.json(200, "{}") }
        var profile = try Sample.profile {
            $0.renewal.kind = kind
            $0.signOut = try Sample.request("POST", "/logout")
            $0.userUpdate = UserUpdateRequest(request: try Sample.request("PUT", "/me"), fields: ["name"], user: [])
        }
        var record = try Sample.record(remembered: ["email": "ada@example.org", "password": "secret"])
        record.origins = profile.origins(in: "production")
        let now = Self.clock.now()
        let good = Self.calls(profile, transport)
        #expect(await !Self.isRefused(try await good.renew(record, sentAt: now)))
        #expect(transport.asked.count == 1)

        profile.environments[0].baseURL = "https://api.sample.example:8443/v1"
        let moved = Self.calls(profile, transport)
        #expect(await Self.isRefused(try await moved.renew(record, sentAt: now)))
        #expect(await Self.isRefused(try await moved.validate(record, sentAt: now)))
        #expect(await Self.isRefused(try await moved.fetchUser(record, sentAt: now)))
        #expect(await Self.isRefused(try await moved.updateUser(record, ["name": "Ada"], sentAt: now)))
        #expect(await Self.isRefused(try await moved.signOut(record, sentAt: now)))
        var method = profile.signIn[0]
        method.request?.bearer = true
        #expect(
            await Self.isRefused(
                try await moved.perform(
                    method, record, fields: ["email": Secret("a@b.example"), "password": Secret("s")], sentAt: now)))
        #expect(transport.asked.count == 1)
    }

    /// An authorization server whose token endpoint is at a different origin than its name and the API.
    private static func server(tokenHost: String, userHost: String = "as.example") -> ScriptedTransport {
        ScriptedTransport { request throws(TransportError) in
            if request.url.contains("/.well-known/") {
                return ExampleProvider.json(
                    200,
                    #"{"issuer":"https://as.example","token_endpoint":"https://\#(tokenHost)/token","#
                        + #""revocation_endpoint":"https://\#(tokenHost)/revoke","#
                        + #""userinfo_endpoint":"https://\#(userHost)/me"}"#)
            }
            return ExampleProvider.json(
                200, #"{"access_token":"a","token_type":"Bearer","expires_in":60,"refresh_token":"r"}"#)
        }
    }

    private static func oauthProfile() throws -> ProviderProfile {
        try Sample.profile {
            $0.userRequest = nil
            $0.oauth = OAuthProfile(issuer: "https://as.example", clientID: "c")
        }
    }

    @Test("at an authorization server the endpoints that the sign-in found are trusted, and none that it names later")
    func discovered() async throws {
        let profile = try Self.oauthProfile()
        let now = Self.clock.now()
        let usual = Self.server(tokenHost: "tokens.example")
        let calls = Self.calls(profile, usual)
        var record = try Sample.record(refreshToken: "r")
        let found = try await calls.server(of: profile, at: now)
        record.origins = profile.origins(in: "production", server: found)
        #expect(await !Self.isRefused(try await calls.renew(record, sentAt: now)))
        #expect(await !Self.isRefused(try await calls.fetchUser(record, sentAt: now)))
        #expect(await !Self.isRefused(try await calls.signOut(record, sentAt: now)))

        let evil = Self.server(tokenHost: "evil.example", userHost: "evil.example")
        let moved = Self.calls(profile, evil)
        #expect(await Self.isRefused(try await moved.renew(record, sentAt: now)))
        #expect(await Self.isRefused(try await moved.fetchUser(record, sentAt: now)))
        #expect(await Self.isRefused(try await moved.signOut(record, sentAt: now)))
        #expect(!evil.asked.contains { $0.contains("evil.example") })
        // The server of the API's tokens gets no refresh token, nor the API.
        let api = try #require(Origin(of: "https://api.sample.example"))
        #expect(record.origins?.allows(.accessToken, at: api) == true)
        #expect(record.origins?.allows(.refreshToken, at: api) == false)
    }

    @Test("of an old record the first discovery at the same issuer is trusted")
    func firstDiscovery() async throws {
        let profile = try Self.oauthProfile()
        let now = Self.clock.now()
        var record = try Sample.record(refreshToken: "r")
        record.origins = profile.origins(in: "production")
        #expect(record.origins?.isComplete == false)
        let calls = Self.calls(profile, Self.server(tokenHost: "tokens.example"))
        #expect(await !Self.isRefused(try await calls.renew(record, sentAt: now)))

        var other = profile
        other.oauth?.issuer = "https://other.example"
        let transport = ScriptedTransport { request throws(TransportError) in
            ExampleProvider.json(
                200, #"{"issuer":"https://other.example","token_endpoint":"https://other.example/token"}"#)
        }
        #expect(await Self.isRefused(try await Self.calls(other, transport).renew(record, sentAt: now)))
        #expect(!transport.asked.contains { $0.hasPrefix("POST") })
    }

    @Test("recorded origins are read from the store again, and allow no more than they name")
    func stored() throws {
        var origins = TokenOrigins(issuer: "https://as.example", isComplete: false)
        origins.allow(.all, at: "https://a.example:443/path")
        origins.allow(.accessToken, at: "http://[::1]:8080")
        #expect(TokenOrigins(stored: origins.json) == origins)
        #expect(
            TokenOrigins(stored: ["uses": ["https://a.example": ["everything"]]])?.uses.values.map(\.rawValue) == [0])
        #expect(TokenOrigins(stored: ["uses": ["a.example": ["access_token"]]]) == nil)
        #expect(TokenOrigins(stored: [:]) == nil)
        let a = try #require(Origin(of: "https://a.example"))
        let plain = try #require(Origin(of: "http://a.example"))
        #expect(!origins.allows(.accessToken, at: plain))
        #expect(origins.allows([.refreshToken, .credentials], at: a))
    }

    @Test("a merge with a record of an older authd keeps the origins, and uses the newer default")
    func merged() throws {
        var mine = try Sample.record()
        mine.origins = try Sample.profile().origins(in: "production")
        var stored = mine
        stored.origins = nil
        stored.defaultSince = Sample.sentAt
        stored.isDefaultImplied = true
        stored.revision += 1
        let merged = mine.merged(with: stored)
        #expect(merged.origins == mine.origins)
        #expect(merged.defaultSince == Sample.sentAt && merged.isDefaultImplied)
        var trusted = stored
        trusted.origins = TokenOrigins()
        #expect(mine.merged(with: trusted).origins == TokenOrigins())
    }
}
