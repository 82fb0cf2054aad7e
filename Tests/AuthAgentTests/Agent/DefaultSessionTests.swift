import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Testing

@Suite("The default session")
struct DefaultSessionTests {
    private static func signIn(_ desk: SignInService, _ name: String) async throws {
        let step = try await desk.start(
            LoginStart(
                provider: "example", session: try SessionName(name), fields: SessionRegistryTests.fields))
        try #require(step.kind == .done)
    }

    private static func logout(_ table: SessionRequests, _ name: String? = nil) async throws -> SessionStatus {
        try await table.logout(SessionLogout(session: try name.map { try SessionName($0) }))
    }

    private static func expectNoDefault(_ table: SessionRequests, _ names: [String]) async throws {
        let thrown = await #expect(throws: AgentError.self) { try await table.token(TokenGet()) }
        let error = try #require(thrown)
        #expect(error.kind == .notSignedIn && error.cause == "no_default")
        #expect(error.details == names.map { "\($0) at example" })
        #expect(table.liveToken(TokenGet()) == nil)
        #expect(throws: error) { try table.status(nil) }
        #expect(table.context.board.statuses().allSatisfy { !$0.isDefault })
    }

    @Test("when the default session is signed out and several are left, none takes its place, also after a restart")
    func severalLeft() async throws {
        let store = MemoryStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { table, desk in
            for name in ["a", "b", "c"] { try await Self.signIn(desk, name) }
            // An older choice does not come back.
            _ = try await table.use(SessionUse(session: SessionName("b")))
            example.clock.advance(.seconds(1))
            _ = try await table.use(SessionUse(session: SessionName("c")))
            let last = try await Self.logout(table)
            #expect(last.session.text == "c")
            #expect(last.message?.contains("no default session now") == true)
            #expect(last.message?.contains("a, b") == true)
            try await Self.expectNoDefault(table, ["a", "b"])
            await #expect(throws: AgentError.self) { try await Self.logout(table) }
            let waited = await #expect(throws: AgentError.self) {
                try await table.wait(SessionWait(until: .online))
            }
            #expect(waited?.cause == "no_default")
        }
        let restarted = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await restarted.running { table, _ in
            try await Self.expectNoDefault(table, ["a", "b"])
            #expect(try await table.use(SessionUse(session: SessionName("b"))).isDefault)
        }
    }

    @Test("the first session is the default of several only until it is signed out")
    func firstLeaves() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { table, desk in
            for name in ["a", "b", "c"] { try await Self.signIn(desk, name) }
            #expect(try table.status(nil).session.text == "a")
            _ = try await Self.logout(table, "a")
            try await Self.expectNoDefault(table, ["b", "c"])
            // Who signs in beside them does not become the default by that.
            try await Self.signIn(desk, "d")
            try await Self.expectNoDefault(table, ["b", "c", "d"])
        }
    }

    @Test("the only session that is left becomes the default, which the sign-out reports, and stays it")
    func oneLeft() async throws {
        let store = MemoryStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { table, desk in
            for name in ["a", "b"] { try await Self.signIn(desk, name) }
            #expect(try await Self.logout(table).message == "The default session is b now.")
            #expect(try table.status(nil).session.text == "b")
            try await Self.signIn(desk, "a")
            #expect(try table.status(nil).session.text == "b")
            // Signing out of another one changes nothing, and says nothing.
            #expect(try await Self.logout(table, "a").message == nil)
        }
        let restarted = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await restarted.running { table, _ in
            let status = try table.status(nil)
            #expect(status.session.text == "b")
        }
    }

    @Test("the first of several sessions that an older authd kept is still the default")
    func olderRecords() async throws {
        let store = MemoryStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { _, desk in
            for name in ["b", "a", "c"] {
                try await Self.signIn(desk, name)
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
        try await upgraded.running { table, _ in
            let status = try table.status(nil)
            #expect(status.session.text == "b")
        }
    }

    @Test("what the settings name goes before the first session, and not before the user's choice")
    func preferred() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { table, desk in
            for name in ["a", "b", "c"] { try await Self.signIn(desk, name) }
            table.context.board.prefer(try SessionName("b"))
            #expect(try table.status(nil).session.text == "b")
            _ = try await table.use(SessionUse(session: SessionName("c")))
            #expect(try table.status(nil).session.text == "c")
            #expect(try await Self.logout(table).message == "The default session is b now.")
            _ = try await Self.logout(table)
            // The first one was the default before b was named: that is over.
            #expect(try table.status(nil).session.text == "a")
        }
    }

    @Test("a token for an origin comes from a session that belongs there, and from no other")
    func origin() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { table, desk in
            try await Self.signIn(desk, "a")
            for origin in ["http://localhost:1", "HTTP://LOCALHOST:1/users?q=1"] {
                #expect(try await table.token(TokenGet(origin: origin)).accessToken == "token-1")
            }
            for other in [
                "http://localhost", "https://localhost:1", "http://localhost:11", "http://elsewhere.example:1",
                "http://localhost:1@evil.example",
            ] {
                let error = await #expect(throws: AgentError.self) {
                    try await table.token(TokenGet(origin: other))
                }
                let isAddress = !other.contains("@")
                #expect(error?.cause == (isAddress ? "other_origin" : nil), "\(other)")
                #expect(error?.kind == (isAddress ? .denied : .validation))
            }
            #expect(table.liveToken(TokenGet(origin: "http://elsewhere.example")) == nil)
        }
    }
}
