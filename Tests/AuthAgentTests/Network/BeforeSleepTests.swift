import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("Before the machine sleeps", .timeLimit(.minutes(1)))
struct BeforeSleepTests {
    private static let start = SessionRegistryTests.start

    @Test("unsaved records are written before the machine may sleep")
    func written() async throws {
        let (store, sleep) = (FaultyStore(), AnnouncedSleep())
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), sleep: sleep)
        try await example.running { sessions, signIns in
            try await Self.leaveUnwritten(sessions, signIns, store)
            store.set(.ready)
            let writes = store.saves
            sleep.prepare()
            let atRelease = await sleep.released { store.saves }
            #expect(atRelease > writes)
            #expect(try await store.load(SessionName("example"))?.tokens.accessToken == Secret("token-2"))
            #expect(try sessions.status(nil).unsaved == false)
        }
    }

    @Test("a store that hangs holds it up for three seconds and no longer")
    func hung() async throws {
        let (store, sleep) = (FaultyStore(), AnnouncedSleep())
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), sleep: sleep)
        try await example.running { sessions, signIns in
            try await Self.leaveUnwritten(sessions, signIns, store)
            store.set(.silent)
            sleep.prepare()
            await store.isAskedInVain()
            #expect(!sleep.isReleased)
            example.clock.advance(NetworkMonitor.longestHold)
            _ = await sleep.released {}
            #expect(try sessions.status(nil).unsaved)
        }
    }

    @Test("with nothing to write it is let go at once")
    func idle() async throws {
        let sleep = AnnouncedSleep()
        let example = try ExampleProvider(transport: ExampleProvider.numbering(), sleep: sleep)
        try await example.running { _, signIns in
            _ = try await signIns.start(Self.start)
            sleep.prepare()
            _ = await sleep.released {}
        }
    }

    /// A renewed token in memory that the store did not take.
    private static func leaveUnwritten(_ sessions: SessionRequests, _ signIns: SignInService, _ store: FaultyStore)
        async throws
    {
        _ = try await signIns.start(start)
        store.set(.failing)
        _ = try await sessions.refresh(SessionParams())
        #expect(try sessions.status(nil).unsaved)
    }
}

/// Sleep that the test announces.
private final class AnnouncedSleep: SleepWatch {
    private let stream: AsyncStream<SleepEvent>
    private let tell: AsyncStream<SleepEvent>.Continuation
    private let releases: AsyncStream<Void>
    private let release: AsyncStream<Void>.Continuation
    private let state = Mutex(false)

    init() {
        (stream, tell) = AsyncStream.makeStream()
        (releases, release) = AsyncStream.makeStream()
    }

    var isReleased: Bool { state.withLock { $0 } }

    func events() -> AsyncStream<SleepEvent> { stream }

    func prepare() {
        tell.yield(
            .preparing(
                SleepHold { [weak self] in
                    self?.state.withLock { $0 = true }
                    self?.release.yield()
                }))
    }

    /// Waits until the hold is let go of, and says how something is then.
    func released<Value>(_ look: () -> Value) async -> Value {
        for await _ in releases { break }
        return look()
    }
}

/// A store in memory that takes what it is given, refuses it, or says nothing until the call is cancelled.
private final class FaultyStore: SessionStore {
    enum Behaviour { case ready, failing, silent }
    private let kept = MemoryStore()
    private let state = Mutex((mood: Behaviour.ready, saves: 0))
    private let vain: AsyncStream<Void>
    private let inVain: AsyncStream<Void>.Continuation

    init() {
        (vain, inVain) = AsyncStream.makeStream()
    }

    var saves: Int { state.withLock { $0.saves } }
    var kind: StoreKind { .secretService }

    func set(_ mood: Behaviour) { state.withLock { $0.mood = mood } }

    func isAskedInVain() async {
        for await _ in vain { break }
    }

    func save(_ record: SessionRecord) async throws(StoreError) {
        switch state.withLock({ $0.mood }) {
        case .ready: break
        case .failing: throw .failed(reason: "full")
        case .silent:
            inVain.yield()
            let (never, _) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            throw .failed(reason: "cancelled")
        }
        try await kept.save(record)
        state.withLock { $0.saves += 1 }
    }

    func loadAll() async throws(StoreError) -> [StoredSession] { try await kept.loadAll() }
    func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await kept.load(session) }
    func delete(_ session: SessionName) async throws(StoreError) { try await kept.delete(session) }
    func states() -> AsyncStream<StoreState> { kept.states() }
}
