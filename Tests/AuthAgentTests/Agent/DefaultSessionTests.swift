import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Testing

@Suite("The default session")
struct DefaultSessionTests {
    private static func signIn(_ signIns: SignInService, _ name: String) async throws {
        let step = try await signIns.start(
            LoginStart(
                provider: "example", session: try SessionName(name), fields: SessionRegistryTests.fields))
        try #require(step.kind == .done)
    }

    private static func logout(_ sessions: SessionRequests, _ name: String? = nil) async throws -> SessionStatus {
        try await sessions.logout(SessionLogout(session: try name.map { try SessionName($0) }))
    }

    private static func expectNoDefault(_ sessions: SessionRequests, _ names: [String]) async throws {
        let thrown = await #expect(throws: AgentError.self) { try await sessions.token(TokenGet()) }
        let error = try #require(thrown)
        #expect(error.kind == .notSignedIn && error.cause == "no_default")
        #expect(error.details == names.map { "\($0) at example" })
        #expect(sessions.liveToken(TokenGet()) == nil)
        #expect(throws: error) { try sessions.status(nil) }
        #expect(sessions.context.board.statuses().allSatisfy { !$0.isDefault })
    }

    @Test("when the default session is signed out and several are left, none takes its place, even after a restart")
    func severalLeft() async throws {
        let store = MemoryStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            for name in ["a", "b", "c"] { try await Self.signIn(signIns, name) }
            // An older choice does not come back.
            _ = try await sessions.use(SessionUse(session: SessionName("b")))
            example.clock.advance(.seconds(1))
            _ = try await sessions.use(SessionUse(session: SessionName("c")))
            let last = try await Self.logout(sessions)
            #expect(last.session.text == "c")
            #expect(last.message?.contains("no default session now") == true)
            #expect(last.message?.contains("a, b") == true)
            try await Self.expectNoDefault(sessions, ["a", "b"])
            await #expect(throws: AgentError.self) { try await Self.logout(sessions) }
            let waited = await #expect(throws: AgentError.self) {
                try await sessions.wait(SessionWait(until: .online))
            }
            #expect(waited?.cause == "no_default")
        }
        let restarted = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await restarted.running { sessions, _ in
            try await Self.expectNoDefault(sessions, ["a", "b"])
            #expect(try await sessions.use(SessionUse(session: SessionName("b"))).isDefault)
        }
    }

    @Test("the first session is the default of several only until it is signed out")
    func firstLeaves() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            for name in ["a", "b", "c"] { try await Self.signIn(signIns, name) }
            #expect(try sessions.status(nil).session.text == "a")
            _ = try await Self.logout(sessions, "a")
            try await Self.expectNoDefault(sessions, ["b", "c"])
            // A further sign-in does not become the default.
            try await Self.signIn(signIns, "d")
            try await Self.expectNoDefault(sessions, ["b", "c", "d"])
        }
    }

    @Test("the only session that is left becomes the default, which the sign-out reports, and stays it")
    func oneLeft() async throws {
        let store = MemoryStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            for name in ["a", "b"] { try await Self.signIn(signIns, name) }
            #expect(try await Self.logout(sessions).message == "The default session is b now.")
            #expect(try sessions.status(nil).session.text == "b")
            try await Self.signIn(signIns, "a")
            #expect(try sessions.status(nil).session.text == "b")
            // Signing out of another one changes nothing, and says nothing.
            #expect(try await Self.logout(sessions, "a").message == nil)
        }
        let restarted = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await restarted.running { sessions, _ in
            let status = try sessions.status(nil)
            #expect(status.session.text == "b")
        }
    }

    @Test("the first of several sessions that an older authd kept is still the default")
    func olderRecords() async throws {
        let store = MemoryStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { _, signIns in
            for name in ["b", "a", "c"] {
                try await Self.signIn(signIns, name)
                example.clock.advance(.seconds(1))
            }
        }
        for name in ["a", "b", "c"] {
            var record = try #require(try await store.load(SessionName(name)))
            record.origins = nil
            record.defaultSince = nil
            record.isDefaultImplied = false
            try await store.save(record)
        }
        let upgraded = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await upgraded.running { sessions, _ in
            let status = try sessions.status(nil)
            #expect(status.session.text == "b")
        }
    }

    @Test("a choice replaces the one before, even if that has a later date from a host whose clock is ahead")
    func aheadClock() async throws {
        let store = MemoryStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            for name in ["a", "b"] { try await Self.signIn(signIns, name) }
            _ = try await sessions.use(SessionUse(session: SessionName("b")))
        }
        var record = try #require(try await store.load(SessionName("b")))
        let ahead = try #require(record.defaultSince) + .seconds(600)
        record.defaultSince = ahead
        try await store.save(record)
        let restarted = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await restarted.running { sessions, _ in
            #expect(try sessions.status(nil).session.text == "b")
            _ = try await sessions.use(SessionUse(session: SessionName("a")))
            #expect(try sessions.status(nil).session.text == "a")
        }
        let chosen = try #require(try await store.load(SessionName("a"))?.defaultSince)
        #expect(chosen > ahead)
    }

    @Test("the session that the settings name precedes the first one, but not the user's choice")
    func preferred() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            for name in ["a", "b", "c"] { try await Self.signIn(signIns, name) }
            sessions.context.board.prefer(try SessionName("b"))
            #expect(try sessions.status(nil).session.text == "b")
            _ = try await sessions.use(SessionUse(session: SessionName("c")))
            #expect(try sessions.status(nil).session.text == "c")
            #expect(try await Self.logout(sessions).message == "The default session is b now.")
            _ = try await Self.logout(sessions)
            // The first one was the default before b was named: that is over.
            #expect(try sessions.status(nil).session.text == "a")
        }
    }

    @Test("a token for an origin comes from a session that belongs there, and from no other")
    func origin() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            try await Self.signIn(signIns, "a")
            for origin in ["http://localhost:1", "HTTP://LOCALHOST:1/users?q=1"] {
                #expect(try await sessions.token(TokenGet(origin: origin)).accessToken == "token-1")
            }
            for other in [
                "http://localhost", "https://localhost:1", "http://localhost:11", "http://elsewhere.example:1",
                "http://localhost:1@evil.example",
            ] {
                let error = await #expect(throws: AgentError.self) {
                    try await sessions.token(TokenGet(origin: other))
                }
                let isAddress = !other.contains("@")
                #expect(error?.cause == (isAddress ? "other_origin" : nil), "\(other)")
                #expect(error?.kind == (isAddress ? .denied : .validation))
            }
            #expect(sessions.liveToken(TokenGet(origin: "http://elsewhere.example")) == nil)
        }
    }
}
