import AuthAgent
import AuthDaemon
import AuthModel
import AuthWire
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@Suite("The end of the agent's sessions", .timeLimit(.minutes(1)))
struct SessionsBackgroundServiceTests {
    /// A store that refuses writes until the test lets it accept them, and always refuses those of a cancelled task.
    private final class FaultyStore: SessionStore {
        private let kept = MemoryStore()
        private let accepts = Mutex(true)
        var kind: StoreKind { .secretService }

        func accept(_ writes: Bool) { self.accepts.withLock { $0 = writes } }

        func save(_ record: SessionRecord) async throws(StoreError) {
            guard accepts.withLock({ $0 }), !Task.isCancelled else { throw .failed(reason: "not now") }
            try await kept.save(record)
        }
        func loadAll() async throws(StoreError) -> [StoredSession] { try await kept.loadAll() }
        func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
        func retryPrompts() async {}
        func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await kept.load(session) }
        func delete(_ session: SessionName) async throws(StoreError) { try await kept.delete(session) }
        func states() -> AsyncStream<StoreState> { kept.states() }
    }

    private struct Nowhere: HTTPTransport {
        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            throw .offline(reason: "none")
        }
        func closeIdleConnections() async {}
    }

    private struct Still: NetworkWatch {
        func readings() -> AsyncStream<NetworkReading> { AsyncStream { $0.yield(NetworkReading(reach: .internet)) } }
    }

    enum End: CaseIterable { case graceful, cancelled }

    @Test(
        "unsaved sessions are written at the end, even if the agent must stop early", arguments: End.allCases)
    func writes(end: End) async throws {
        let (store, clock, name) = (FaultyStore(), BootClock(), try SessionName("shop"))
        let now = clock.now().wall
        try await store.save(
            SessionRecord(
                session: name, provider: "shop", environment: "production", method: "password",
                tokens: TokenSet(accessToken: Secret("token"), issuedAt: now, expiresAt: now + .seconds(3600)),
                user: nil, rawUser: nil, signedInAt: now))
        let context = AgentContext(
            storeKind: store.kind, transport: Nowhere(), clock: clock, network: Still(), catalog: ProfileCatalog(),
            publish: { _ in })
        let storage = SessionStorage(store: store)
        let registry = SessionRegistry(context: context, storage: storage, seed: 1)
        let loader = SessionLoader(context: context, registry: registry, storage: storage, seed: 1)
        let sessions = SessionRequests(context: context, registry: registry, storage: storage)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: SessionsBackgroundService(
                            loader: loader, registry: registry, clock: clock, logger: logger, stop: ShutdownDeadline()))
                ],
                logger: logger))
        let agent = Task { try await group.run() }
        await loader.ready()
        store.accept(false)
        #expect(try await sessions.use(SessionUse(session: name)).unsaved)
        #expect(try await store.load(name)?.defaultSince == nil)
        store.accept(true)
        switch end {
        case .graceful: await group.triggerGracefulShutdown()
        case .cancelled: agent.cancel()
        }
        _ = await agent.result
        #expect(try await store.load(name)?.defaultSince != nil)
    }

    @Test("requests in flight have their time from when the stop began, whichever part asks first")
    func moment() {
        let (stop, start) = (ShutdownDeadline(), BootInstant(sinceBoot: .seconds(100)))
        stop.begin(at: start)
        #expect(stop.deadline(at: start + .seconds(4)) == start + ShutdownDeadline.grace)
        #expect(ShutdownDeadline().deadline(at: start) == start + ShutdownDeadline.grace)
    }
}
