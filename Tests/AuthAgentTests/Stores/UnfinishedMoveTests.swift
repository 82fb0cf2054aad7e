import AgentTestSupport
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("What a move of sessions leaves", .timeLimit(.minutes(1)))
struct UnfinishedMoveTests {
    private final class Notes: StateStore {
        private let content: Mutex<[UnfinishedMove]>

        init(_ moves: [UnfinishedMove] = []) {
            content = Mutex(moves)
        }

        func load() -> [UnfinishedMove] { content.withLock { $0 } }
        func write(_ value: [UnfinishedMove]) { content.withLock { $0 = value } }
        func save(_ newest: @escaping @Sendable () -> [UnfinishedMove]) async throws(StoreError) { write(newest()) }
    }

    /// Where the next start looks, as a disk keeps it.
    private struct Choice: Sendable {
        var kinds: [StoreKind] = []
        /// The calls that fail, counted from one.
        var failures: Set<Int> = []

        mutating func choose(_ kind: StoreKind) -> Result<Void, StoreError> {
            kinds.append(kind)
            return failures.contains(kinds.count) ? .failure(.failed(reason: "no sync")) : .success(())
        }
    }

    private let sealed = PlainStore(.sealedFile)
    private let keyring = PlainStore(.secretService)
    private let etcd = PlainStore(.etcd)

    private func record(_ name: String) throws -> SessionRecord {
        var record = try Sample.record()
        record.session = try SessionName(name)
        return record
    }

    private func move(
        _ from: PlainStore, _ to: PlainStore, _ phase: UnfinishedMove.Phase, _ names: [String]
    ) throws -> UnfinishedMove {
        UnfinishedMove(
            from: from.kind, to: to.kind, phase: phase, copies: try names.map { UnfinishedMove.Copy(try record($0)) })
    }

    private func names(_ store: PlainStore) async throws -> [String] { try await store.names().map(\.session.text) }

    /// An agent whose sessions are in `present`.
    private func play(
        in present: PlainStore, _ notes: Notes,
        choose: @escaping @Sendable (StoreKind) -> Result<Void, StoreError> = { _ in .success(()) },
        _ test: @escaping @Sendable (StoreAdmin) async throws -> Void
    ) async throws {
        let store = MovableStore(present)
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        let stores = [sealed, keyring, etcd]
        try await example.running { sessions, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await store.run() }
                try await test(
                    StoreAdmin(
                        context: sessions.context, registry: sessions.registry, loader: example.loader, store: store,
                        dependencies: StoreAdmin.Dependencies(
                            open: { (kind) throws(StoreError) in
                                guard let found = stores.first(where: { $0.kind == kind }) else { throw .locked }
                                return found
                            },
                            configuredStore: { nil },
                            choose: { (kind) throws(StoreError) in try choose(kind).get() },
                            moves: notes, bundles: NoBundles())))
                group.cancelAll()
            }
        }
    }

    @Test("copies of a move that has not ended are removed, also of a session that was signed out of meanwhile")
    func copying() async throws {
        for name in ["a", "b"] { try await keyring.save(record(name)) }
        try await sealed.save(record("b"))
        let notes = Notes([try move(sealed, keyring, .copying, ["a", "b", "c"])])
        try await play(in: sealed, notes) { await $0.finishMoves() }
        #expect(try await names(keyring).isEmpty)
        #expect(try await names(sealed) == ["b"])
        #expect(notes.load().isEmpty)
    }

    @Test("what was not copied yet stays, although a user starts with the new store")
    func startInNew() async throws {
        for name in ["a", "b"] { try await sealed.save(record(name)) }
        try await keyring.save(record("a"))
        let left = [try move(sealed, keyring, .copying, ["a", "b"])]
        let notes = Notes(left)
        try await play(in: keyring, notes) { await $0.finishMoves() }
        #expect(try await names(sealed) == ["a", "b"])
        #expect(try await names(keyring) == ["a"])
        #expect(notes.load() == left)
    }

    @Test("all that was copied is removed from the store that the next start does not use", arguments: [true, false])
    func copied(isNew: Bool) async throws {
        for store in [sealed, keyring] { for name in ["a", "b"] { try await store.save(record(name)) } }
        let notes = Notes([try move(sealed, keyring, .copied, ["a", "b"])])
        try await play(in: isNew ? keyring : sealed, notes) { await $0.finishMoves() }
        #expect(try await names(isNew ? keyring : sealed) == ["a", "b"])
        #expect(try await names(isNew ? sealed : keyring).isEmpty)
        #expect(notes.load().isEmpty)
    }

    @Test("a user who goes back to the old store has sessions there, which nothing removes")
    func back() async throws {
        try await sealed.save(record("a"))
        try await keyring.save(record("b"))
        let notes = Notes([try move(sealed, keyring, .removing, ["a", "b"])])
        try await play(in: sealed, notes) { await $0.finishMoves() }
        #expect(try await names(sealed) == ["a"])
        #expect(try await names(keyring) == ["b"])
        #expect(notes.load().isEmpty)
    }

    @Test("another move does not forget the copies of the one before")
    func thirdStore() async throws {
        for store in [sealed, etcd] { try await store.save(record("a")) }
        let former = try move(sealed, etcd, .copying, ["a"])
        let notes = Notes([former])
        try await play(in: sealed, notes) { [keyring, etcd, notes] store in
            _ = try await store.migrate(StoreMigrate(to: .secretService))
            #expect(notes.load() == [former])
            let (there, left) = (try await keyring.names(), try await etcd.names())
            #expect(there.count == 1 && left.count == 1)
        }
        try await play(in: keyring, notes) { await $0.finishMoves() }
        #expect(try await names(etcd).isEmpty)
        #expect(try await names(keyring) == ["a"])
        #expect(notes.load().isEmpty)
    }

    @Test("a move whose caller is gone removes its copies")
    func cancelled() async throws {
        for name in ["a", "b"] { try await sealed.save(record(name)) }
        let notes = Notes()
        try await play(in: sealed, notes) { [keyring, sealed, notes] store in
            let hold = keyring.holdSecondWrite()
            let moving = Task { try await store.migrate(StoreMigrate(to: .secretService)) }
            await hold.isReached()
            #expect(notes.load().map(\.phase) == [.copying])
            moving.cancel()
            hold.release()
            await #expect(throws: AgentError.self) { try await moving.value }
            let (there, here) = (try await keyring.names(), try await sealed.names())
            #expect(there.isEmpty && here.count == 2)
        }
        #expect(notes.load().isEmpty)
    }

    @Test(
        "if it is not certain where the next start looks, both stores keep everything", arguments: [Set([1]), [1, 2]])
    func uncertain(failures: Set<Int>) async throws {
        for name in ["a", "b"] { try await sealed.save(record(name)) }
        let notes = Notes()
        let choice = Mutex(Choice(failures: failures))
        try await play(in: sealed, notes, choose: { kind in choice.withLock { $0.choose(kind) } }) { store in
            await #expect(throws: AgentError.self) { try await store.migrate(StoreMigrate(to: .secretService)) }
        }
        #expect(choice.withLock { $0.kinds } == [.secretService, .sealedFile])
        #expect(try await names(sealed) == ["a", "b"])
        #expect(try await names(keyring) == (failures.count == 1 ? [] : ["a", "b"]))
        #expect(notes.load().map(\.phase) == (failures.count == 1 ? [] : [.copied]))
    }
}

/// A store of a chosen kind that keeps everything in memory. A call of a task that was cancelled is not made.
private final class PlainStore: SessionStore, KeyStore {
    let kind: StoreKind
    private let inside = MemoryStore()
    private let hold = Mutex<Hold?>(nil)
    private let writes = Counter()

    init(_ kind: StoreKind) {
        self.kind = kind
    }

    func holdSecondWrite() -> Hold {
        let hold = Hold()
        self.hold.withLock { $0 = hold }
        return hold
    }

    private func check() throws(StoreError) {
        if Task.isCancelled { throw .failed(reason: "the call was cancelled") }
    }

    func loadAll() async throws(StoreError) -> [StoredSession] {
        try check()
        return try await inside.loadAll()
    }
    func names() async throws(StoreError) -> [StoredName] { try await inside.names() }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try check()
        return try await inside.load(session)
    }
    func save(_ record: SessionRecord) async throws(StoreError) {
        try check()
        if let hold = hold.withLock({ $0 }), writes.next() == 2 { await hold.pass() }
        try check()
        try await inside.save(record)
    }
    func delete(_ session: SessionName) async throws(StoreError) {
        try check()
        try await inside.delete(session)
    }
    func states() -> AsyncStream<StoreState> { AsyncStream { $0.yield(.ready) } }
    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? { try await inside.key(for: purpose) }
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        try await inside.save(key, for: purpose)
    }
}
