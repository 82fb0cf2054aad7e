import AuthConcurrency
package import AuthModel
package import AuthWire
import Synchronization

/// The store that sessions are in, while they may be moved to another one.
///
/// Invariant: while they are moved no call is under way in either; who calls then waits, and finds the new one.
package final class MovableStore: SessionStore, KeyStore {
    package typealias Store = any SessionStore & KeyStore

    private struct State {
        var store: Store
        var busy = 0
        var isMoving = false
        var waiting: [OneShot<Void>] = []
        /// Waits for the last call to end.
        var mover: OneShot<Void>?
    }

    private let inside: Mutex<State>
    private let broadcast = StateBroadcast<StoreState>(nil)
    private let moves: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation
    private let changed: AsyncStream<SessionName>
    private let tellChange: AsyncStream<SessionName>.Continuation

    package init(_ store: Store) {
        inside = Mutex(State(store: store))
        (moves, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (changed, tellChange) = AsyncStream.makeStream()
    }

    package var kind: StoreKind { present.kind }

    /// The one that sessions are in now.
    package var present: Store { inside.withLock { $0.store } }

    package func states() -> AsyncStream<StoreState> { broadcast.states() }

    /// For one listener.
    package func changes() -> AsyncStream<SessionName> { changed }

    /// Passes on how the store is, until it is cancelled.
    package func run() async {
        var moved = moves.makeAsyncIterator()
        while !Task.isCancelled {
            let store = present
            await withDiscardingTaskGroup { group in
                group.addTask { for await state in store.states() { self.broadcast.set(state) } }
                group.addTask { for await session in store.changes() { self.tellChange.yield(session) } }
                _ = await moved.next()
                group.cancelAll()
            }
        }
    }

    /// Puts another store in its place, when `work` gives one; after an error all is as it was.
    package func move(_ work: (Store) async throws(AgentError) -> Store) async throws(AgentError) {
        let store = try await begin()
        defer { end() }
        let new = try await work(store)
        inside.withLock { $0.store = new }
        bell.yield()
    }

    // MARK: The calls of a store

    package func loadAll() async throws(StoreError) -> [StoredSession] {
        try await pass { store throws(StoreError) in try await store.loadAll() }
    }

    package func names() async throws(StoreError) -> [StoredName] {
        try await pass { store throws(StoreError) in try await store.names() }
    }

    package func retryPrompts() async { await present.retryPrompts() }

    package func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try await pass { store throws(StoreError) in try await store.load(session) }
    }

    package func save(_ record: SessionRecord) async throws(StoreError) {
        try await pass { store throws(StoreError) in try await store.save(record) }
    }

    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> SessionRecord? {
        try await pass { store throws(StoreError) in
            try await store.update(record, replacesOther: replacesOther)
        }
    }

    package func delete(_ session: SessionName) async throws(StoreError) {
        try await pass { store throws(StoreError) in try await store.delete(session) }
    }

    package func hasLost(_ session: SessionName) async -> Bool { await present.hasLost(session) }

    package func process() async -> StoreProcess? { await present.process() }

    package func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? {
        try await pass { store throws(StoreError) in try await store.key(for: purpose) }
    }

    package func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        try await pass { store throws(StoreError) in try await store.save(key, for: purpose) }
    }

    // MARK: Turns

    private func pass<Value: Sendable>(
        _ work: (Store) async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let store = try await enter()
        defer { leave() }
        return try await work(store)
    }

    private func enter() async throws(StoreError) -> Store {
        while true {
            let wait = OneShot<Void>()
            let store = inside.withLock { inside -> Store? in
                guard !inside.isMoving else {
                    inside.waiting.append(wait)
                    return nil
                }
                inside.busy += 1
                return inside.store
            }
            if let store { return store }
            guard await wait.value() != nil else {
                inside.withLock { $0.waiting.removeAll { $0 === wait } }
                throw .failed(reason: "the call was cancelled")
            }
        }
    }

    private func leave() {
        let mover = inside.withLock { inside in
            inside.busy -= 1
            guard inside.busy == 0 else { return OneShot<Void>?.none }
            defer { inside.mover = nil }
            return inside.mover
        }
        mover?.send(())
    }

    private func begin() async throws(AgentError) -> Store {
        let isFree = inside.withLock { inside in
            defer { inside.isMoving = true }
            return !inside.isMoving
        }
        guard isFree else { throw AgentError(.busy, "Sessions are being moved already.", cause: "moving") }
        let wait = OneShot<Void>()
        inside.withLock { inside in
            if inside.busy > 0 { inside.mover = wait } else { wait.send(()) }
        }
        guard await wait.value() != nil else {
            inside.withLock { $0.mover = nil }
            end()
            throw .callerGone
        }
        return present
    }

    private func end() {
        let waiting = inside.withLock { inside in
            inside.isMoving = false
            defer { inside.waiting = [] }
            return inside.waiting
        }
        for wait in waiting { wait.send(()) }
    }
}
