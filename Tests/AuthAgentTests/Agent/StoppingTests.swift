import AgentTestSupport
import AuthConcurrency
import AuthMachines
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("The end of the sessions", .timeLimit(.minutes(1)))
struct StoppingTests {
    private static let grace = Duration.seconds(5)

    private static func error(_ token: Task<TokenResult, any Error>) async -> AgentError? {
        do {
            _ = try await token.value
            return nil
        } catch {
            return error as? AgentError
        }
    }

    @Test("a caller that waits for a provider gets `stopping`, and so does a later one")
    func waiting() async throws {
        let hold = Hold()
        let example = try ExampleProvider.waiting(for: hold)
        let waiting = OneShot<Task<TokenResult, any Error>>()
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            example.clock.advance(.seconds(2000))
            waiting.send(Task { try await sessions.token(SessionRegistryTests.get) })
            await hold.isReached()
        }
        let token = try #require(await waiting.value())
        #expect(await Self.error(token) == .stopping)
        await #expect(throws: AgentError.stopping) { try await example.sessions.token(SessionRegistryTests.get) }
    }

    @Test("a request in flight stores its token first, and no other one begins")
    func finished() async throws {
        let (hold, store) = (Hold(), MemoryStore())
        let example = try ExampleProvider.waiting(for: hold, store: store)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            example.clock.advance(.seconds(2000))
            let token = Task { try await sessions.token(SessionRegistryTests.get).accessToken }
            await hold.isReached()
            let deadline = example.clock.now().boot + Self.grace
            let finish = Task { await sessions.registry.finish(until: deadline) }
            await example.clock.somebodySleeps(until: deadline)
            hold.release()
            await finish.value
            #expect(try await store.load(SessionName("example"))?.tokens.accessToken == Secret("token-2"))
            #expect(try await token.value == "token-2")
            await #expect(throws: AgentError.stopping) { try await sessions.refresh(SessionParams()) }
        }
        #expect(example.transport.asked.count == 2)
    }

    @Test("a request that never ends is waited for until the deadline, and no longer")
    func deadline() async throws {
        let hold = Hold()
        let example = try ExampleProvider.waiting(for: hold)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            example.clock.advance(.seconds(2000))
            let token = Task { try await sessions.token(SessionRegistryTests.get) }
            await hold.isReached()
            let deadline = example.clock.now().boot + Self.grace
            let finish = Task { await sessions.registry.finish(until: deadline) }
            await example.clock.somebodySleeps(until: deadline)
            example.clock.advance(Self.grace)
            await finish.value
            token.cancel()
            #expect(await Self.error(token) == .callerGone)
        }
    }

    @Test("a session that is signed in to afterwards is refused, and not waited for")
    func late() async throws {
        let example = try ExampleProvider.waiting(for: Hold())
        try await example.running { _, signIns in _ = try await signIns.start(SessionRegistryTests.start) }
        var other = try #require(try await example.store.load(SessionName("example")))
        other.session = try SessionName("other")
        let (late, now) = (other, example.clock.now())
        await #expect(throws: AgentError.stopping) { try await example.sessions.registry.signedIn(late, sentAt: now) }
    }

    @Test("ends a wait for the first look into a store that never answers")
    func firstLook() async throws {
        let store = SilentStore()
        let example = try ExampleProvider.waiting(for: Hold(), store: store)
        let run = Task { await example.loader.run() }
        let ready = Task { await example.loader.ready() }
        let token = Task { try await example.sessions.token(SessionRegistryTests.get) }
        let gone = Task { try await example.sessions.token(SessionRegistryTests.get) }
        await store.hold.isReached()
        gone.cancel()
        #expect(await Self.error(gone) == .callerGone)
        run.cancel()
        await ready.value
        #expect(await Self.error(token) == .stopping)
        await run.value
    }
}

@Suite("News of the network and of names on their way to a session", .timeLimit(.minutes(1)))
struct SessionChangeTests {
    @Test("an older report about the network never replaces a newer one, nor does one about another place")
    func order() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let session = try #require(try sessions.registry.session(named: SessionName("example")))
            let here = try #require(Origin(of: "http://localhost:1"))
            let elsewhere = try #require(Origin(of: "https://provider.example"))
            #expect(await session.networkChanged(VersionedNetworkState(state: .online, version: 2000), at: here))
            #expect(await session.networkChanged(VersionedNetworkState(state: .limited, version: 1999), at: here))
            #expect(await !session.networkChanged(VersionedNetworkState(state: .limited, version: 3000), at: elsewhere))
            // It is renewed in the background only where the network is online.
            let end = ManualClock.moment(.seconds(1000)).boot
            await example.clock.somebodySleeps(until: end - .seconds(30))
            example.clock.advance(.seconds(900))
            for await _ in sessions.context.board.changes() where sessions.context.board.renewals == 1 { break }
            #expect(await session.networkChanged(VersionedNetworkState(state: .offline, version: 3000), at: here))
            example.clock.advance(.seconds(2000))
            await #expect(throws: AgentError.offline) { try await sessions.token(SessionRegistryTests.get) }
        }
    }

    @Test("news of the network have a higher version after each event")
    func versions() async throws {
        let monitor = NetworkMonitor(
            watch: StillNetwork(), sleep: NeverSleeps(), transport: ExampleProvider.numbering(),
            tasks: AgentTasks(clock: ManualClock()))
        let origin = try #require(Origin(of: "https://provider.example"))
        let first = await monitor.news(of: origin)
        await monitor.use(["example": [Probe(origin)]], version: 2)
        let second = await monitor.news(of: nil)
        #expect(first.version < second.version)
        // What was read earlier lacks a session that was signed in to meanwhile.
        await monitor.use([:], version: 1)
        #expect(await monitor.news(of: nil).version == second.version)
    }

    @Test("an older report about a shared sign-in never replaces a newer one, nor does one about an earlier sign-in")
    func shared() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let session = try #require(try sessions.registry.session(named: SessionName("example")))
            let record = await session.record
            await session.sharedSignInChanged(.none, version: 2000, readWith: record)
            await session.sharedSignInChanged(.lasting, version: 1999, readWith: record)
            #expect(try !sessions.status(nil).renews)
            await session.sharedSignInChanged(.lasting, version: 2001, readWith: record)
            #expect(try sessions.status(nil).renews)
            _ = try await signIns.start(SessionRegistryTests.start)
            await session.sharedSignInChanged(.none, version: 2002, readWith: record)
            #expect(try sessions.status(nil).renews)
        }
    }

    @Test("of two reloads the newer profiles apply, whichever is reported last")
    func reload() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            var changed = try ExampleProvider.profile()
            changed.renewal = Renewal(kind: .none)
            let (old, new) = (sessions.context.providers.profiles, ProfileCatalog([changed]))
            for _ in 1...50 {
                // The second is begun when the first has put its profiles in place, and may be anywhere after that.
                async let first: Void = sessions.registry.reload(old)
                async let second: Void = sessions.registry.reload(new)
                _ = await (first, second)
                let expected = sessions.context.providers.profiles["example"]?.renewal.kind != Renewal.Kind.none
                #expect(try sessions.status(nil).renews == expected)
            }
        }
    }

    @Test("a name is free only after everything of the signed-out session is gone")
    func name() async throws {
        let (notes, known) = (RecordedNotes(), Known())
        let shop = try SessionName("example")
        let example = try ExampleProvider(
            transport: ExampleProvider.numbering(),
            publish: { event in
                guard event.name == "signed_out", let sessions = known.sessions.withLock({ $0 }) else { return }
                notes.add(sessions.registry.session(named: shop) == nil ? "free" : "taken")
            })
        known.sessions.withLock { $0 = example.sessions }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            _ = try await sessions.logout(SessionLogout())
            #expect(sessions.registry.session(named: shop) == nil)
        }
        #expect(notes.all == ["taken"])
        known.sessions.withLock { $0 = nil }
    }

    /// The sessions that a test's events come from.
    private final class Known: Sendable {
        let sessions = Mutex<SessionRequests?>(nil)
    }
}

@Suite("A caller that waits for the network", .timeLimit(.minutes(1)))
struct ClearanceTests {
    @Test("is released when cancelled, and when the agent stops; no caller waits afterwards")
    func ends() async throws {
        let hold = Hold()
        let transport = ScriptedTransport { _ throws(TransportError) in
            guard await hold.pass() else { throw .cancelled }
            return ExampleProvider.json(200, "{}")
        }
        let tasks = AgentTasks(clock: ManualClock())
        let monitor = NetworkMonitor(
            watch: StillNetwork(), sleep: NeverSleeps(), transport: transport, tasks: tasks)
        let origin = try #require(Origin(of: "https://provider.example"))
        let run = Task {
            async let work: Void = tasks.run()
            await monitor.run(
                NetworkMonitor.Reactions(
                    publish: { _, _ in }, publishSkews: { _ in }, publishMetered: { _ in }, connectionsEnd: {},
                    notifySessions: {},
                    prepareForSleep: {}, clockSet: {})
            )
            await work
        }
        // A call waits for the probe.
        let probed = Task { try await monitor.clearance(for: origin) }
        await hold.isReached()
        let gone = Task { try await monitor.clearance(for: origin) }
        gone.cancel()
        await #expect(throws: TransportError.cancelled) { _ = try await gone.value }
        run.cancel()
        await run.value
        _ = await probed.result
        await #expect(throws: TransportError.cancelled) { _ = try await monitor.clearance(for: origin) }
    }
}

/// A store that says nothing until the call is cancelled.
private final class SilentStore: SessionStore {
    let hold = Hold()
    var kind: StoreKind { .secretService }

    func loadAll() async throws(StoreError) -> [StoredSession] {
        await hold.pass()
        throw .failed(reason: "cancelled")
    }
    func names() async throws(StoreError) -> [StoredName] { [] }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { nil }
    func save(_ record: SessionRecord) async throws(StoreError) {}
    func delete(_ session: SessionName) async throws(StoreError) {}
    func states() -> AsyncStream<StoreState> { AsyncStream { $0.finish() } }
}
