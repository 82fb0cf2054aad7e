import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("A store that fails at start")
struct StoreAtStartTests {
    @Test("is read again by itself, though it never says that anything has changed", arguments: [1, 3])
    func readAgain(failures: Int) async throws {
        let store = FlakyStore(failing: failures)
        let first = try ExampleProvider(store: store.kept, transport: ExampleProvider.numbering())
        try await first.running { _, signIns in _ = try await signIns.start(SessionRegistryTests.start) }

        let second = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await second.running { sessions, _ in
            #expect(throws: AgentError.self) { try sessions.status(nil) }
            for _ in 1...failures {
                await second.clock.somebodySleeps(until: second.clock.now().boot + Backoff.longest)
                second.clock.advance(Backoff.longest)
            }
            // The store is called ready after all that it holds is there.
            for await _ in sessions.context.board.changes() where sessions.context.board.store.state == .ready { break }
            let token = try await sessions.token(TokenGet())
            #expect(token.accessToken.hasPrefix("token-"))
            #expect(sessions.context.board.statuses().map(\.state) == [.active])
        }
        #expect(store.reads == failures + 1)
    }

    @Test("is not read again by itself while it is locked: that would prompt the user again and again")
    func locked() async throws {
        let store = FlakyStore(failing: 1, with: .locked)
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { _, _ in example.clock.advance(.seconds(86_400)) }
        #expect(store.reads == 1)
    }

    @Test("that is locked is needed as soon as a caller requests its content")
    func wanted() async throws {
        let store = FlakyStore(failing: 1, with: .locked)
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, _ in
            #expect(!sessions.context.board.isStoreRequested)
            await #expect(throws: AgentError.self) { try await sessions.token(TokenGet()) }
            #expect(sessions.context.board.isStoreRequested && sessions.context.board.store.state == .locked)
            example.loader.startRetry()
            for await _ in sessions.context.board.changes() where sessions.context.board.store.state == .ready { break }
            #expect(!sessions.context.board.isStoreRequested)
        }
    }

    @Test("that a passphrase opens, and that has not named its sessions yet, is asked again when there is a network")
    func namedLater() async throws {
        let store = DistantStore()
        let (readings, network) = AsyncStream.makeStream(of: NetworkReading.self)
        network.yield(NetworkReading(reach: .offline))
        let example = try ExampleProvider(
            store: store, transport: ExampleProvider.numbering(), network: FedNetwork(stream: readings))
        try await example.running { sessions, _ in
            let board = sessions.context.board
            for await _ in board.changes() where board.hidesSessions && board.network.state == .offline { break }
            #expect(PromptLine.text(for: board.statuses(), hidesSessions: board.hidesSessions) == "!keyring_locked")
            let sealed = AgentError.storeNotRead(board.store)
            #expect(sealed.kind == .keyringLocked && sealed.message.contains("authc store unlock"))
            #expect(throws: sealed) { try sessions.list() }
            store.isReachable.withLock { $0 = true }
            network.yield(NetworkReading(reach: .internet))
            for await _ in board.changes() where !board.hidesSessions { break }
            let listed = try sessions.list()
            #expect(listed.map(\.state) == [.keyringLocked])
        }
    }

    @Test("that a passphrase opens is asked again after a pause, too: what was out of reach may not be the network")
    func namedAfterPause() async throws {
        let store = DistantStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, _ in
            let board = sessions.context.board
            for await _ in board.changes() where board.hidesSessions { break }
            store.isReachable.withLock { $0 = true }
            await example.clock.somebodySleeps(until: example.clock.now().boot + Backoff.longest)
            example.clock.advance(Backoff.longest)
            for await _ in board.changes() where !board.hidesSessions { break }
            #expect(board.statuses().map(\.session.text) == ["work"])
        }
    }

    @Test("that a passphrase opens, and that has no sessions, is empty even if an earlier request fails later")
    func namedMeanwhile() async throws {
        let store = SlowStore()
        let (readings, network) = AsyncStream.makeStream(of: NetworkReading.self)
        network.yield(NetworkReading(reach: .offline))
        let example = try ExampleProvider(
            store: store, transport: ExampleProvider.numbering(), network: FedNetwork(stream: readings))
        try await example.running { sessions, _ in
            let board = sessions.context.board
            for await _ in board.changes() where board.hidesSessions && board.network.state == .offline { break }
            store.isHeld.withLock { $0 = true }
            network.yield(NetworkReading(reach: .internet))
            for await _ in store.held { break }
            await example.clock.somebodySleeps(until: example.clock.now().boot + Backoff.longest)
            example.clock.advance(Backoff.longest)
            for await _ in board.changes() where !board.hidesSessions { break }
            store.fail()
            for _ in 1...1000 where !board.hidesSessions { await Task.yield() }
            #expect(!board.hidesSessions)
        }
    }
}

/// A passphrase opens it, and nothing but the names of its sessions can be read until then.
private protocol SealedTestStore: SessionStore {}

extension SealedTestStore {
    var kind: StoreKind { .etcd }

    func loadAll() async throws(StoreError) -> [StoredSession] { throw .sealed }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { throw .sealed }
    func save(_ record: SessionRecord) async throws(StoreError) { throw .sealed }
    func delete(_ session: SessionName) async throws(StoreError) { throw .sealed }
    func states() -> AsyncStream<StoreState> { AsyncStream { $0.yield(.locked) } }
}

/// Names are not known at first, then one request for them has no answer, and later ones find none.
private final class SlowStore: SealedTestStore {
    let isHeld = Mutex(false)
    let held: AsyncStream<Void>
    private let requested: AsyncStream<Void>.Continuation
    private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
    private let wasHeld = Mutex(false)

    init() { (held, requested) = AsyncStream.makeStream() }

    func fail() { waiting.withLock { $0 }?.resume() }

    func names() async throws(StoreError) -> [StoredName] {
        let fault = StoreError.cluster(.unreachable(reason: "there is no network"))
        guard isHeld.withLock({ $0 }) else { throw fault }
        let isFirstHeld = wasHeld.withLock { wasHeld in
            defer { wasHeld = true }
            return !wasHeld
        }
        guard isFirstHeld else { return [] }
        await withCheckedContinuation { continuation in
            waiting.withLock { $0 = continuation }
            requested.yield()
        }
        throw fault
    }
}

/// The names of its sessions are on another machine.
private final class DistantStore: SealedTestStore {
    let isReachable = Mutex(false)

    func names() async throws(StoreError) -> [StoredName] {
        guard isReachable.withLock({ $0 }) else { throw .cluster(.unreachable(reason: "there is no network")) }
        do {
            return [StoredName(session: try SessionName("work"), provider: "example")]
        } catch {
            throw .failed(reason: "\(error)")
        }
    }
}

/// Fails to be read so many times, and says nothing of it.
private final class FlakyStore: SessionStore {
    let kept = MemoryStore()
    private let counts: Mutex<(left: Int, reads: Int)>
    private let error: StoreError

    init(failing times: Int, with error: StoreError = .failed(reason: "a hiccup")) {
        counts = Mutex((times, 0))
        self.error = error
    }

    var reads: Int { counts.withLock { $0.reads } }
    var kind: StoreKind { .secretService }

    func loadAll() async throws(StoreError) -> [StoredSession] {
        let fails = counts.withLock { counts in
            counts.reads += 1
            counts.left -= 1
            return counts.left >= 0
        }
        if fails { throw error }
        return try await kept.loadAll()
    }

    func names() async throws(StoreError) -> [StoredName] { throw error }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await kept.load(session) }
    func save(_ record: SessionRecord) async throws(StoreError) { try await kept.save(record) }
    func delete(_ session: SessionName) async throws(StoreError) { try await kept.delete(session) }
    func states() -> AsyncStream<StoreState> { AsyncStream { _ in } }
}
