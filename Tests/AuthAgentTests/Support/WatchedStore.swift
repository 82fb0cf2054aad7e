import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Synchronization

/// A store in memory that reports what others change, and whose state a test sets.
final class WatchedStore: SessionStore {
    let kept = MemoryStore()
    private let work = Mutex<(@Sendable () async -> Void)?>(nil)
    private let news = AsyncStream<SessionName>.makeStream()
    private let state = StateBroadcast<StoreState>(.ready)

    let kind = StoreKind.memory
    let showsEverything = true

    /// Another program writes a record.
    func change(_ record: SessionRecord) async throws(StoreError) {
        try await kept.save(record)
        news.continuation.yield(record.session)
    }

    /// Does `work` once, after everything was read and before the caller gets it.
    func afterReading(_ work: @escaping @Sendable () async -> Void) { self.work.withLock { $0 = work } }

    func set(_ new: StoreState) { state.set(new) }

    func loadAll() async throws(StoreError) -> [StoredSession] {
        let found = try await kept.loadAll()
        await work.withLock { $0.take() }?()
        return found
    }

    func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await kept.load(session) }
    func save(_ record: SessionRecord) async throws(StoreError) { try await kept.save(record) }
    func delete(_ session: SessionName) async throws(StoreError) { try await kept.delete(session) }
    func states() -> AsyncStream<StoreState> { state.states() }
    func changes() -> AsyncStream<SessionName> { news.stream }
}
