import AuthConcurrency
package import AuthModel
package import AuthWire
import Synchronization

/// The store that sessions are in, while they may be moved to another one.
///
/// Invariant: while they are moved no call is in progress in either; a caller waits and then uses the new one.
package final class MovableStore: SessionStore, KeyStore {
    package typealias Store = any SessionStore & KeyStore

    private let store: Mutex<Store>
    private let gate = MoveGate()
    private let broadcast = StateBroadcast<StoreState>(nil)
    private let moves: AsyncStream<Void>
    private let moveSink: AsyncStream<Void>.Continuation
    private let changed: AsyncStream<SessionName>
    private let changeSink: AsyncStream<SessionName>.Continuation
    private let releases: AsyncStream<SessionName>
    private let releaseSink: AsyncStream<SessionName>.Continuation
    private let occurred: AsyncStream<ClusterFault>
    private let faultSink: AsyncStream<ClusterFault>.Continuation

    package init(_ store: Store) {
        self.store = Mutex(store)
        (moves, moveSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (changed, changeSink) = AsyncStream.makeStream()
        (releases, releaseSink) = AsyncStream.makeStream()
        (occurred, faultSink) = AsyncStream.makeStream()
    }

    package var kind: StoreKind { present.kind }

    /// The store that the sessions are in now.
    package var present: Store { store.withLock { $0 } }

    package func states() -> AsyncStream<StoreState> { broadcast.states() }

    /// For one listener.
    package func changes() -> AsyncStream<SessionName> { changed }

    /// For one listener.
    package func released() -> AsyncStream<SessionName> { releases }

    /// For one listener.
    package func faults() -> AsyncStream<ClusterFault> { occurred }

    package func obstacle() async -> ClusterFault? { await present.obstacle() }

    /// Runs the present store, and passes on its states, changes and faults, until it is cancelled.
    package func run() async {
        var moved = moves.makeAsyncIterator()
        while !Task.isCancelled {
            let store = present
            await withDiscardingTaskGroup { group in
                group.addTask { for await state in store.states() { self.broadcast.set(state) } }
                group.addTask { for await session in store.changes() { self.changeSink.yield(session) } }
                group.addTask { for await session in store.released() { self.releaseSink.yield(session) } }
                group.addTask { for await fault in store.faults() { self.faultSink.yield(fault) } }
                group.addTask { await store.run() }
                _ = await moved.next()
                group.cancelAll()
            }
        }
    }

    /// Replaces the store with the one that `work` returns. After an error nothing has changed.
    package func move(_ work: (Store) async throws(AgentError) -> Store) async throws(AgentError) {
        try await gate.close()
        defer { gate.reopen() }
        let new = try await work(present)
        store.withLock { $0 = new }
        moveSink.yield()
    }

    // MARK: The calls of a store

    package func loadAll() async throws(StoreError) -> [StoredSession] {
        try await pass { store throws(StoreError) in try await store.loadAll() }
    }

    package func names() async throws(StoreError) -> [StoredName] {
        try await pass { store throws(StoreError) in try await store.names() }
    }

    package func retryPrompts() async { await present.retryPrompts() }

    package func networkChanged(endsConnections: Bool) async {
        await present.networkChanged(endsConnections: endsConnections)
    }

    package func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try await pass { store throws(StoreError) in try await store.load(session) }
    }

    package func save(_ record: SessionRecord) async throws(StoreError) {
        try await pass { store throws(StoreError) in try await store.save(record) }
    }

    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> UpdateOutcome {
        try await pass { store throws(StoreError) in
            try await store.update(record, replacesOther: replacesOther)
        }
    }

    package func delete(_ session: SessionName) async throws(StoreError) {
        try await pass { store throws(StoreError) in try await store.delete(session) }
    }

    package func delete(_ session: SessionName, of signIn: SignInID) async throws(StoreError) -> SessionRecord? {
        try await pass { store throws(StoreError) in try await store.delete(session, of: signIn) }
    }

    package func loadReported(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try await pass { store throws(StoreError) in try await store.loadReported(session) }
    }

    package func hasLost(_ session: SessionName) async throws(StoreError) -> Bool {
        try await present.hasLost(session)
    }

    package var leases: (any LeaseStore)? { present.leases }

    package var showsEverything: Bool { present.showsEverything }

    package func process() async -> StoreProcess? { await present.process() }

    package func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? {
        try await pass { store throws(StoreError) in try await store.key(for: purpose) }
    }

    package func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        try await pass { store throws(StoreError) in try await store.save(key, for: purpose) }
    }

    package func damage(ofKeyFor purpose: KeyPurpose) async throws(StoreError) -> String? {
        try await pass { store throws(StoreError) in try await store.damage(ofKeyFor: purpose) }
    }

    // MARK: Calls and moves

    private func pass<Value: Sendable>(
        _ work: (Store) async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        guard await gate.enter() else { throw .failed(reason: "the call was cancelled") }
        defer { gate.leave() }
        return try await work(present)
    }
}
