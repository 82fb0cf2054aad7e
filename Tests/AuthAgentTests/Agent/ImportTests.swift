import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Testing

@Suite("Sessions that are imported")
struct ImportTests {
    private static func running(
        _ inside: any SessionStore & KeyStore = MemoryStore(),
        _ test: @escaping @Sendable (SessionRequests, SignInService, StoreAdmin) async throws -> Void
    ) async throws {
        let store = MovableStore(inside)
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            let storeAdmin = StoreAdmin(
                context: sessions.context, registry: sessions.registry, loader: example.loader, store: store,
                dependencies: StoreAdmin.Dependencies(
                    open: { _ in MemoryStore() }, configuredStore: { nil }, choose: { _ in }, moves: nil,
                    bundles: NoBundles()))
            try await test(sessions, signIns, storeAdmin)
        }
    }

    private static func signIn(_ signIns: SignInService, _ names: String...) async throws {
        for name in names {
            let step = try await signIns.start(
                LoginStart(
                    provider: "example", session: try SessionName(name), fields: SessionRegistryTests.fields))
            try #require(step.kind == .done)
        }
    }

    @Test("do not replace the default session, and bring theirs if there is no other session")
    func defaultSession() async throws {
        let bundle = OneShot<[UInt8]>()
        try await Self.running { sessions, signIns, store in
            try await Self.signIn(signIns, "a", "b")
            _ = try await sessions.use(SessionUse(session: SessionName("b")))
            bundle.send(try await store.export(SessionExport(passphrase: nil)).bytes)
        }
        let bytes = try #require(await bundle.value())
        try await Self.running { sessions, signIns, store in
            try await Self.signIn(signIns, "work")
            _ = try await store.importSessions(SessionImport(bytes: bytes))
            #expect(try sessions.status(nil).session.text == "work")
        }
        try await Self.running { sessions, signIns, store in
            try await Self.signIn(signIns, "one", "two")
            _ = try await sessions.logout(SessionLogout(session: SessionName("one")))
            _ = try await sessions.logout(SessionLogout(session: SessionName("two")))
            _ = try await store.importSessions(SessionImport(bytes: bytes))
            #expect(try sessions.status(nil).session.text == "b")
        }
    }

    @Test("are removed again if one cannot be written; those that cannot be removed are listed and named")
    func writeFails() async throws {
        let bundle = OneShot<[UInt8]>()
        try await Self.running { _, signIns, store in
            try await Self.signIn(signIns, "a", "b")
            bundle.send(try await store.export(SessionExport(passphrase: nil)).bytes)
        }
        let bytes = try #require(await bundle.value())
        for keeps in [false, true] {
            let inside = HalfStore(keeps: keeps)
            try await Self.running(inside) { sessions, _, store in
                let failure = await #expect(throws: AgentError.self) {
                    try await store.importSessions(SessionImport(bytes: bytes))
                }
                #expect(failure?.message.contains("could not be removed: a, b.") == keeps)
                for name in ["a", "b"] {
                    let session = sessions.registry.session(named: try SessionName(name))
                    #expect((session != nil) == keeps)
                }
                let stored = try await inside.names()
                #expect(stored.map(\.session.text) == (keeps ? ["a", "b"] : []))
            }
        }
    }

    @Test("have 65,536 JSON values at most; what has more is neither exported nor imported")
    func values() async throws {
        let zeros = JSON.array(Array(repeating: 0, count: 65_536))
        try await Self.running { sessions, signIns, store in
            try await Self.signIn(signIns, "a")
            let session = try #require(sessions.registry.session(named: SessionName("a")))
            var record = await session.record
            record.rawUser = ["list": zeros]
            _ = try await sessions.registry.signedIn(record, sentAt: sessions.context.clock.now())
            let exported = await #expect(throws: AgentError.self) {
                try await store.export(SessionExport(passphrase: nil))
            }
            #expect(exported?.kind == .tooLarge)
            let bundle = JSON.object(["sessions": zeros]).serialized()
            let imported = await #expect(throws: AgentError.self) {
                try await store.importSessions(SessionImport(bytes: bundle))
            }
            #expect(imported?.kind == .tooLarge)
        }
    }
}

/// Reports an error for every write after the first, although the record was written.
private final class HalfStore: SessionStore, KeyStore {
    private let inside = MemoryStore()
    private let writes = Counter()
    /// Whether nothing can be removed.
    private let keeps: Bool

    init(keeps: Bool) {
        self.keeps = keeps
    }

    var kind: StoreKind { .sealedFile }

    func loadAll() async throws(StoreError) -> [StoredSession] { try await inside.loadAll() }
    func names() async throws(StoreError) -> [StoredName] { try await inside.names() }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await inside.load(session) }
    func save(_ record: SessionRecord) async throws(StoreError) {
        try await inside.save(record)
        if writes.next() > 1 { throw .failed(reason: "the disk is full") }
    }
    func delete(_ session: SessionName) async throws(StoreError) {
        if keeps { throw .failed(reason: "the disk is full") }
        try await inside.delete(session)
    }
    func states() -> AsyncStream<StoreState> { inside.states() }
    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? { try await inside.key(for: purpose) }
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        try await inside.save(key, for: purpose)
    }
}
