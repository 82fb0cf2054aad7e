import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Session registry")
struct SessionRegistryTests {
    static let fields = ["email": "a@b.example", "password": "secret"]
    static let start = LoginStart(provider: "example", fields: fields)
    static let get = TokenGet()

    private static func given(_ token: LiveToken?) throws -> String? {
        try token.map { try TokenResult(JSON(parsing: $0.json(at: BootInstant(sinceBoot: .zero)))).accessToken }
    }

    @Test("a sign-in makes a session that is in the store before it is reported")
    func signIn() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            let step = try await signIns.start(Self.start)
            #expect(step.kind == .done)
            #expect(step.status?.state == .active)
            #expect(step.status?.user?.email == "a@b.example")
            #expect(try await example.store.load(SessionName("example"))?.tokens.accessToken == Secret("token-1"))
            #expect(try Self.given(sessions.liveToken(Self.get)) == "token-1")
        }
        #expect(example.transport.asked == ["POST http://localhost:1/login"])
    }

    @Test("a token is returned with its remaining time, even if that is less than requested")
    func validity() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering(lifetime: 600))
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start)
            example.clock.advance(.seconds(100))
            let live = try #require(sessions.liveToken(Self.get)).json(at: example.clock.now().boot)
            #expect(try TokenResult(JSON(parsing: live)).valid == .seconds(500))
            let more = try await sessions.token(TokenGet(minValid: .seconds(1200)))
            #expect(more.accessToken == "token-2" && more.valid == .seconds(600))
        }
    }

    @Test("a session whose profile has no request for it is not said to be validated")
    func nothingToQuery() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start)
            let status = try await sessions.validate(SessionParams())
            #expect(status.state == .active && status.message?.hasPrefix("There is nothing to query") == true)
        }
        #expect(example.transport.asked == ["POST http://localhost:1/login"])
    }

    @Test("two hundred callers around the end of a token are one request")
    func oneRequest() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start)
            // The alarm may renew it before they come, or with them.
            example.clock.advance(.seconds(2000))
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 1...200 { group.addTask { try await sessions.token(Self.get).accessToken } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(tokens == ["token-2"])
        }
        #expect(example.transport.asked.count == 2)
    }

    @Test("a token is renewed by itself when its deadline comes")
    func byItself() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start)
            let end = ManualClock.moment(.seconds(1000)).boot
            await example.clock.somebodySleeps(until: end - .seconds(30))
            example.clock.advance(.seconds(900))
            for await _ in sessions.context.board.changes() where sessions.context.board.renewals == 1 { break }
            #expect(try Self.given(sessions.liveToken(Self.get)) == "token-2")
        }
    }

    @Test("a new registry on the same store serves the sessions without a request")
    func pickedUp() async throws {
        let store = MemoryStore()
        let first = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await first.running { _, signIns in _ = try await signIns.start(Self.start) }
        let second = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await second.running { sessions, _ in
            let token = try await sessions.token(Self.get)
            #expect(token.accessToken == "token-1")
            #expect(try sessions.status(nil).isDefault)
        }
        #expect(second.transport.asked.isEmpty)
    }

    @Test("a signed-out session is gone from the store and unknown afterwards")
    func signOut() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start)
            let last = try await sessions.logout(SessionLogout())
            #expect(last.state == .signedOut)
            #expect(try await example.store.loadAll().isEmpty)
            #expect(throws: AgentError.noSession) { try sessions.status(nil) }
        }
    }

    @Test("a user may sign out and in again any number of times")
    func againAndAgain() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            for round in 1...5 {
                let step = try await signIns.start(Self.start)
                #expect(step.status?.state == .active)
                #expect(try await sessions.token(Self.get).accessToken == "token-\(round)")
                _ = try await sessions.logout(SessionLogout())
                #expect(try await example.store.loadAll().isEmpty)
                #expect(throws: AgentError.noSession) { try sessions.status(nil) }
            }
        }
    }

    @Test("the default is the first session until another is chosen, and stays so over a restart")
    func defaultSession() async throws {
        let store = MemoryStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        let second = try SessionName("second")
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start)
            example.clock.advance(.seconds(1))
            _ = try await signIns.start(LoginStart(provider: "example", session: second, fields: Self.fields))
            #expect(try sessions.status(nil).session.text == "example")
            #expect(try await sessions.use(SessionUse(session: second)).isDefault)
        }
        let restarted = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await restarted.running { sessions, _ in
            let status = try sessions.status(nil)
            #expect(status.session == second)
            #expect(sessions.context.board.statuses().count { $0.isDefault } == 1)
        }
    }

    @Test("a caller that is cancelled is let go, and the renewal goes on")
    func cancelled() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let counter = Counter()
        let transport = ScriptedTransport { _ throws(TransportError) in
            let number = counter.next()
            if number == 2 { for await _ in gate { break } }
            return ExampleProvider.json(200, #"{"token":"token-\#(number)","expires_in":1000}"#)
        }
        let example = try ExampleProvider(transport: transport)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start)
            example.clock.advance(.seconds(2000))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await #expect(throws: AgentError.self) { try await sessions.token(Self.get) } }
                group.cancelAll()
            }
            async let other = sessions.token(Self.get)
            open.yield()
            #expect(try await other.accessToken == "token-2")
        }
        #expect(transport.asked.count == 2)
    }

    @Test("after a lost connection the next request begins on a new one, and the cause is reported")
    func lostConnection() async throws {
        let counter = Counter()
        let transport = ScriptedTransport { _ throws(TransportError) in
            if counter.next() > 1 { throw .connectionLost(host: "localhost", reason: "cut") }
            return ExampleProvider.json(200, #"{"token":"token-1","expires_in":1000}"#)
        }
        let example = try ExampleProvider(transport: transport)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start)
            example.clock.advance(.seconds(2000))
            await #expect(throws: AgentError.self) { try await sessions.token(Self.get) }
            #expect(try sessions.status(nil).state == .stale)
            #expect(try sessions.status(nil).cause == "provider_unreachable")
        }
        #expect(transport.closed.contains("http://localhost:1"))
        #expect(transport.dropped == 0)
    }

    @Test("waiting for a state ends when it is reached")
    func waiting() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            async let waited = sessions.wait(SessionWait(until: .active))
            _ = try await signIns.start(Self.start)
            #expect(try await waited.session.text == "example")
        }
    }

    @Test("a caller that waits when the registry stops gets `stopping`")
    func stopping() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let counter = Counter()
        let transport = ScriptedTransport { _ throws(TransportError) in
            if counter.next() > 1 { for await _ in gate { break } }
            return ExampleProvider.json(200, #"{"token":"token-1","expires_in":1000}"#)
        }
        let example = try ExampleProvider(transport: transport)
        let sessions = example.sessions
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await example.loader.run() }
            await example.loader.ready()
            _ = try await example.signIns.start(Self.start)
            example.clock.advance(.seconds(2000))
            group.cancelAll()
            open.finish()
        }
        await #expect(throws: AgentError.stopping) { try await sessions.token(Self.get) }
    }
}
