import AgentTestSupport
import AuthConcurrency
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("A move of sessions that are being renewed", .timeLimit(.minutes(1)))
struct SharedMoveTests {
    /// An agent whose sessions are in `present`.
    private func play(
        in present: SharedStore, _ other: SharedStore, transport: ScriptedTransport = ExampleProvider.numbering(),
        _ test: @escaping @Sendable (StoreAdmin, SessionRequests) async throws -> Void
    ) async throws {
        let store = MovableStore(present)
        let example = try ExampleProvider(store: store, transport: transport)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(LoginStart(provider: "example", fields: SessionRegistryTests.fields))
            try await #require(sessions.registry.session(named: name())).write()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await store.run() }
                try await test(
                    StoreAdmin(
                        context: sessions.context, registry: sessions.registry, loader: example.loader, store: store,
                        dependencies: StoreAdmin.Dependencies(
                            open: { _ in other }, configuredStore: { nil }, choose: { _ in }, moves: nil,
                            bundles: NoBundles())), sessions)
                group.cancelAll()
            }
        }
    }

    private func name() throws -> SessionName { try SessionName("example") }

    @Test("waits for the host that renews one, and moves what that host has written")
    func elsewhere() async throws {
        let (etcd, sealed) = (SharedStore(.etcd, isShared: true), SharedStore(.sealedFile))
        let transport = ExampleProvider.numbering()
        try await play(in: etcd, sealed, transport: transport) { store, sessions in
            let asked = etcd.giveToAnotherHost()
            let moving = Task { try await store.migrate(StoreMigrate(to: .sealedFile, endsElsewhere: true)) }
            _ = await asked.value()
            let names = try await sealed.names()
            #expect(names.isEmpty)
            var renewed = try #require(try await etcd.load(name()))
            renewed.tokens.accessToken = Secret("of another host")
            renewed.generation += 1
            try await etcd.save(renewed)
            etcd.takeBack(try name())
            _ = try await moving.value
            let (moved, left) = (try await sealed.load(name()), try await etcd.names())
            #expect(moved?.tokens == renewed.tokens && left.isEmpty, "\(String(describing: moved?.version))")
            // This session reads it before its next renewal, although no change of the store was reported. Requests that
            // find out meanwhile that there are newer tokens return these.
            func renewals() -> Int { transport.asked.count { $0.hasSuffix("/refresh") } }
            for _ in 1...10 where renewals() == 0 { _ = try await sessions.refresh(SessionParams()) }
            #expect(renewals() == 1)
            #expect(try await sealed.load(name())?.generation == renewed.generation + 1)
        }
    }

    @Test("leaves both stores unchanged if another host may have renewed a session")
    func lost() async throws {
        let (etcd, sealed) = (SharedStore(.etcd, isShared: true), SharedStore(.sealedFile))
        try await play(in: etcd, sealed) { store, sessions in
            let clock = try #require(sessions.context.clock as? ManualClock)
            // As when the machine sleeps then: the lease ends.
            sealed.duringWrite { _ in clock.advance(.seconds(20)) }
            await #expect(throws: AgentError.usedElsewhere) {
                try await store.migrate(StoreMigrate(to: .sealedFile, endsElsewhere: true))
            }
            let (there, here) = (try await sealed.names(), try await etcd.names())
            #expect(there.isEmpty && here.count == 1)
        }
    }

    /// What another host does to the session meanwhile.
    enum Change: CaseIterable {
        case corrects, signsOut, adds
    }

    @Test("leaves both stores unchanged if another host has changed the sessions meanwhile", arguments: Change.allCases)
    func changed(_ change: Change) async throws {
        let (etcd, sealed) = (SharedStore(.etcd, isShared: true), SharedStore(.sealedFile))
        try await play(in: etcd, sealed) { store, _ in
            sealed.duringWrite { record in
                var other = record
                switch change {
                case .corrects: other.corrections += 1
                case .signsOut: return try await etcd.delete(record.session)
                case .adds: other.session = try SessionName("another")
                }
                try await etcd.save(other)
            }
            await #expect(throws: AgentError.usedElsewhere) {
                try await store.migrate(StoreMigrate(to: .sealedFile, endsElsewhere: true))
            }
            let (there, here) = (try await sealed.names(), try await etcd.names())
            #expect(there.isEmpty && here.count == [.corrects: 1, .signsOut: 0, .adds: 2][change])
        }
    }

    @Test("first renews a session whose renewal another host did not end: its tokens may soon be refused")
    func interrupted() async throws {
        let (etcd, sealed) = (SharedStore(.etcd, isShared: true), SharedStore(.sealedFile))
        let transport = ExampleProvider.numbering()
        try await play(in: etcd, sealed, transport: transport) { store, _ in
            let former = try #require(try await etcd.load(name()))
            etcd.interruptRenewal()
            _ = try await store.migrate(StoreMigrate(to: .sealedFile, endsElsewhere: true))
            #expect(transport.asked.count { $0.hasSuffix("/refresh") } == 1)
            let (moved, left) = (try await sealed.load(name()), try await etcd.names())
            #expect(moved?.generation == former.generation + 1 && left.isEmpty)
        }
    }

    @Test("a host is removed once it has written what it renews; then every session is renewed")
    func removal() async throws {
        let etcd = SharedStore(.etcd, isShared: true)
        let transport = ExampleProvider.numbering()
        try await play(in: etcd, SharedStore(.sealedFile), transport: transport) { _, sessions in
            let asked = etcd.giveToAnotherHost()
            let removed = Mutex<UInt64?>(nil)
            let removing = Task {
                try await sessions.registry.renewAll { () throws(AgentError) in
                    let stored = try? await etcd.load(SessionName("example"))
                    removed.withLock { $0 = stored?.generation }
                }
            }
            _ = await asked.value()
            #expect(removed.withLock { $0 } == nil)
            var renewed = try #require(try await etcd.load(name()))
            renewed.tokens.accessToken = Secret("of another host")
            renewed.generation += 1
            try await etcd.save(renewed)
            etcd.takeBack(try name())
            let failed = try await removing.value
            #expect(failed.isEmpty)
            #expect(removed.withLock { $0 } == renewed.generation)
            let stored = try #require(try await etcd.load(name()))
            #expect(stored.generation == renewed.generation + 1)
            #expect(transport.asked.count { $0.hasSuffix("/refresh") } == 1)
        }
    }

    @Test("a host that releases nothing is removed all the same, and the sessions that were not renewed are named")
    func deafHost() async throws {
        let etcd = SharedStore(.etcd, isShared: true)
        try await play(in: etcd, SharedStore(.sealedFile)) { _, sessions in
            let clock = try #require(sessions.context.clock as? ManualClock)
            _ = etcd.giveToAnotherHost()
            let isRemoved = Mutex(false)
            let isOver = Mutex(false)
            let removing = Task {
                defer { isOver.withLock { $0 = true } }
                return try await sessions.registry.renewAll { () throws(AgentError) in
                    isRemoved.withLock { $0 = true }
                }
            }
            while !isOver.withLock({ $0 }) {
                clock.advance(.seconds(1))
                await Task.yield()
            }
            let (failed, expected) = (try await removing.value, [try name()])
            #expect(failed == expected)
            #expect(isRemoved.withLock { $0 })
        }
    }

    @Test("waits for a renewal of this host; later ones wait for it", arguments: [StoreKind.etcd, .sealedFile])
    func own(_ kind: StoreKind) async throws {
        let (present, other) = (SharedStore(kind, isShared: kind == .etcd), SharedStore(.secretService))
        let (begun, mayEnd) = (OneShot<Void>(), OneShot<Void>())
        let isRenewing = Mutex(false)
        let renewals = Counter()
        let transport = ScriptedTransport { request async throws(TransportError) in
            guard request.url.hasSuffix("/refresh") else {
                return ExampleProvider.json(200, #"{"token":"first","expires_in":1000,"user":{"id":"7"}}"#)
            }
            let number = renewals.next()
            if number == 1 {
                isRenewing.withLock { $0 = true }
                begun.send(())
                _ = await mayEnd.value()
                isRenewing.withLock { $0 = false }
            }
            return ExampleProvider.json(200, #"{"token":"token-\#(number)","expires_in":1000,"user":{"id":"7"}}"#)
        }
        try await play(in: present, other, transport: transport) { store, sessions in
            other.duringWrite { _ in #expect(!isRenewing.withLock { $0 }) }
            let renewing = Task { try await sessions.refresh(SessionParams()) }
            _ = await begun.value()
            let moving = Task { try await store.migrate(StoreMigrate(to: .secretService, endsElsewhere: true)) }
            // Time for a move that does not wait.
            for _ in 1...1000 { await Task.yield() }
            mayEnd.send(())
            _ = try await renewing.value
            _ = try await moving.value
            #expect(try await other.load(name())?.tokens.accessToken == Secret("token-1"))
            // Renewals at one provider begin 100 ms apart.
            try #require(sessions.context.clock as? ManualClock).advance(.seconds(10))
            _ = try await sessions.refresh(SessionParams())
            #expect(try await sessions.token(TokenGet()).accessToken == "token-2")
        }
    }
}

/// A store in memory that hosts may share.
private final class SharedStore: SessionStore, KeyStore, LeaseStore {
    let kind: StoreKind
    private let isShared: Bool
    private let inside = MemoryStore()
    private let asked = Mutex<OneShot<Void>?>(nil)
    private let work = Mutex<(@Sendable (SessionRecord) async throws -> Void)?>(nil)
    private let isInterrupted = Mutex(false)
    private let releases: AsyncStream<SessionName>
    private let tellReleased: AsyncStream<SessionName>.Continuation

    init(_ kind: StoreKind, isShared: Bool = false) {
        self.kind = kind
        self.isShared = isShared
        (releases, tellReleased) = AsyncStream.makeStream()
    }

    var leases: (any LeaseStore)? { isShared ? self : nil }

    /// Another host renews every session.
    /// - Returns: completes when this host wants one.
    func giveToAnotherHost() -> OneShot<Void> {
        let asked = OneShot<Void>()
        self.asked.withLock { $0 = asked }
        return asked
    }

    func takeBack(_ session: SessionName) {
        asked.withLock { $0 = nil }
        tellReleased.yield(session)
    }

    /// Another host did not end the renewal of the session: nobody knows what the provider did.
    func interruptRenewal() { isInterrupted.withLock { $0 = true } }

    func duringWrite(_ work: @escaping @Sendable (SessionRecord) async throws -> Void) {
        self.work.withLock { $0 = work }
    }

    func loadAll() async throws(StoreError) -> [StoredSession] { try await inside.loadAll() }
    func names() async throws(StoreError) -> [StoredName] { try await inside.names() }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await inside.load(session) }
    func save(_ record: SessionRecord) async throws(StoreError) {
        do { try await work.withLock { $0 }?(record) } catch { throw .failed(reason: "\(error)") }
        let former = try await inside.load(record.session)
        if former.map({ $0.generation < record.generation }) ?? true { isInterrupted.withLock { $0 = false } }
        try await inside.save(record)
    }
    func delete(_ session: SessionName) async throws(StoreError) { try await inside.delete(session) }
    func states() -> AsyncStream<StoreState> { AsyncStream { $0.yield(.ready) } }
    func released() -> AsyncStream<SessionName> { releases }
    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? { try await inside.key(for: purpose) }
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        try await inside.save(key, for: purpose)
    }

    func grantLease() async throws(StoreError) -> GrantedLease { GrantedLease(LeaseID(1), lasts: .seconds(10)) }
    func keepAlive(_ lease: LeaseID) async throws(StoreError) -> Duration? { .seconds(10) }
    func hold(
        _ session: SessionName, for version: RecordVersion, under lease: LeaseID
    ) async throws(StoreError) -> HoldOutcome {
        if let asked = asked.withLock({ $0 }) {
            asked.send(())
            return .heldElsewhere
        }
        return .held(try await load(session), after: isInterrupted.withLock { $0 } ? .unanswered : .answered)
    }
    func claim(_ session: SessionName, for version: RecordVersion) async throws(StoreError) -> SessionRecord? {
        try await load(session)
    }
    func release(_ session: SessionName, leaving end: HoldOutcome.FormerHold) async throws(StoreError) {}
}
