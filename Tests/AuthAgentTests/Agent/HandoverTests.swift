import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("Sessions that the run before handed over")
struct HandoverTests {
    private static func record(_ name: String = "work") throws -> SessionRecord {
        let signedInAt = WallTime(unixSeconds: 1_800_000_000)
        return SessionRecord(
            session: try SessionName(name), provider: "example", environment: "production", method: "password",
            tokens: TokenSet(
                accessToken: Secret("token-1"), refreshToken: Secret("refresh-1"), issuedAt: signedInAt,
                expiresAt: signedInAt + .seconds(1000)),
            user: UserSummary(id: "7", email: "ada@example.org"), rawUser: nil, signedInAt: signedInAt, generation: 1,
            revision: 1)
    }

    /// Without origins, records would be completed when they are restored, and one of them would become the default one.
    private static func completeRecords() throws -> [SessionRecord] {
        try (0..<20).map { number in
            var record = try record("work-\(number)")
            record.origins = TokenOrigins()
            return record
        }
    }

    @Test("are served while the store does not answer; requests for other sessions wait")
    func servedAtOnce() async throws {
        let record = try Self.record()
        let handovers = MemoryHandoverStore(
            Handover([HandedOverSession(record: record, isStored: true, isUnsaved: false)]))
        let store = HeldStore(holding: record)
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), handover: handovers)
        try await example.running { sessions, _ in
            #expect(sessions.liveToken(TokenGet(session: record.session)) != nil)
            let status = try sessions.status(record.session)
            #expect(status.state == .active)
            #expect(sessions.context.board.store.state == .starting)
            async let other = Self.failure { try await sessions.token(TokenGet(session: try SessionName("other"))) }
            store.answer()
            #expect(await other == .unknownSession)
            for await _ in sessions.context.board.changes() where sessions.context.board.store.state == .ready { break }
            #expect(sessions.context.board.statuses().map(\.session) == [record.session])
        }
    }

    @Test("are served first: the store is read once clients are served")
    func readsLater() async throws {
        let record = try Self.record()
        let handovers = MemoryHandoverStore(
            Handover([HandedOverSession(record: record, isStored: true, isUnsaved: false)]))
        let store = HeldStore(holding: record)
        store.answer()
        let example = try ExampleProvider(
            store: store, transport: ExampleProvider.numbering(), handover: handovers, waitsForClients: true)
        try await example.running { sessions, _ in
            let token = try await sessions.token(TokenGet(session: record.session))
            #expect(token.accessToken == "token-1")
            store.clientsAreServed()
            example.loader.clientsAreServed()
            for await _ in sessions.context.board.changes() where sessions.context.board.store.state == .ready { break }
            // The comparison of the session with the store reads it, too.
            for await _ in store.comparisons { break }
            #expect(!store.wasReadEarly)
        }
    }

    @Test("can be served before anything else of the agent runs")
    func early() async throws {
        let record = try Self.record()
        let handovers = MemoryHandoverStore(
            Handover([HandedOverSession(record: record, isStored: true, isUnsaved: false)]))
        let example = try ExampleProvider(
            store: HeldStore(holding: record), transport: ExampleProvider.numbering(), handover: handovers)
        for _ in 0..<2 { #expect(await example.loader.restoreHandedOver() == true) }
        await example.loader.ready()
        #expect(example.sessions.liveToken(TokenGet(session: record.session)) != nil)
    }

    @Test("stay with the service manager until clients are served, unless one of them changes")
    func handedOnLater() async throws {
        let records = try Self.completeRecords()
        // The origins of a session of an earlier version are recorded when it is restored.
        var changed = try Self.record("changed")
        changed.environment = "local"
        for record in [nil, changed] {
            let all = (records + [record].compactMap(\.self)).map {
                HandedOverSession(record: $0, isStored: true, isUnsaved: false)
            }
            let handovers = MemoryHandoverStore(Handover(all))
            let store = HeldStore(holding: nil)
            let example = try ExampleProvider(
                store: store, transport: ExampleProvider.numbering(), handover: handovers, waitsForClients: true)
            try await example.running { sessions, _ in
                #expect(sessions.liveToken(TokenGet(session: records[0].session)) != nil)
                if record == nil {
                    #expect(handovers.kept.withLock { $0.isEmpty })
                    example.loader.clientsAreServed()
                }
                #expect(await handovers.saves.first { _ in true }?.sessions.count == all.count)
                store.answer()
            }
        }
    }

    @Test(
        "are written when the agent ends if the store has older ones, even if no client was served",
        arguments: [true, false])
    func stoppedEarly(isRestored: Bool) async throws {
        let older = try Self.record()
        var newer = older
        newer.generation = 2
        newer.tokens.accessToken = Secret("token-2")
        let handovers = MemoryHandoverStore(
            Handover([HandedOverSession(record: newer, isStored: true, isUnsaved: true)]))
        let store = HeldStore(holding: older)
        store.answer()
        let example = try ExampleProvider(
            store: store, transport: ExampleProvider.numbering(), handover: handovers, waitsForClients: true)
        await withTaskGroup(of: Void.self) { [loader = example.loader, registry = example.sessions.registry] group in
            group.addTask { await loader.run(last: { await registry.drain() }) }
            if isRestored { await loader.ready() }
            group.cancelAll()
        }
        #expect(try await store.load(older.session)?.tokens.accessToken == Secret("token-2"))
    }

    @Test("are all handed over again at once, and once if nothing has changed")
    func handedOnTogether() async throws {
        let records = try Self.completeRecords()
        let handovers = MemoryHandoverStore(
            Handover(records.map { HandedOverSession(record: $0, isStored: true, isUnsaved: false) }))
        let store = HeldStore(holding: nil)
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), handover: handovers)
        try await example.running { _, _ in
            for await handover in handovers.saves {
                #expect(Set(handover.sessions.map(\.record.session)) == Set(records.map(\.session)))
                break
            }
            #expect(handovers.kept.withLock { $0.count } == 1)
            store.answer()
        }
    }

    @Test("are all handed over while they are being restored, even if one of them changes")
    func handedOnWithChange() async throws {
        // The origins of a session of an earlier version are recorded when it is restored.
        var changed = try Self.record("changed")
        changed.environment = "local"
        let records = [changed] + (try (0..<20).map { try Self.record("work-\($0)") })
        let handovers = MemoryHandoverStore(
            Handover(records.map { HandedOverSession(record: $0, isStored: true, isUnsaved: false) }))
        let store = HeldStore(holding: nil)
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), handover: handovers)
        try await example.running { _, _ in
            for await handover in handovers.saves {
                #expect(handover.sessions.count == records.count)
                if handover.sessions.contains(where: { $0.record.origins != nil }) { break }
            }
            store.answer()
        }
    }

    @Test("are discarded if the agent is locked while they are being read")
    func lockedMeanwhile() async throws {
        let handovers = MemoryHandoverStore(
            Handover([HandedOverSession(record: try Self.record(), isStored: true, isUnsaved: false)]))
        let store = HeldStore(holding: nil)
        store.answer()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), handover: handovers)
        handovers.whileLoading.withLock {
            $0 = {
                var record = LockRecord()
                record.lock = LockRecord.Lock(since: example.clock.now().wall, reason: .command)
                _ = LockService(
                    LockService.Dependencies(
                        context: example.sessions.context, registry: example.sessions.registry,
                        storage: example.storage, signIns: example.signIns, store: MemoryLock(record),
                        endAccepted: {}, log: { _ in }))
            }
        }
        try await example.running { sessions, _ in
            #expect(sessions.context.board.statuses().isEmpty)
            // Only a later save replaces what was read.
            #expect(handovers.savedSinceLoading == [Handover()])
        }
    }

    private static func failure(_ work: () async throws -> TokenResult) async -> ErrorKind? {
        do {
            _ = try await work()
            return nil
        } catch {
            return (error as? AgentError)?.kind
        }
    }

    @Test("are handed over with their changes, and not after a sign-out")
    func handedOn() async throws {
        let (handovers, store) = (MemoryHandoverStore(), HeldStore(holding: nil))
        store.answer()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), handover: handovers)
        try await example.running { sessions, signIns in
            // Nothing that a run before has left stays.
            #expect(handovers.kept.withLock { $0 } == [Handover()])
            _ = try await signIns.start(SessionRegistryTests.start)
            #expect(handovers.last.sessions.map(\.record.tokens.accessToken) == [Secret("token-1")])
            _ = try await sessions.refresh(SessionParams())
            #expect(handovers.last.sessions.map(\.record.tokens.accessToken) == [Secret("token-2")])
            _ = try await sessions.logout(SessionLogout())
            #expect(handovers.last.sessions.isEmpty)
        }
    }

    @Test("are not those whose token needs a check of presence; without the default session they are partial")
    func withheld() async throws {
        let (handovers, store, marks) = (MemoryHandoverStore(), HeldStore(holding: nil), Marks())
        store.answer()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), handover: handovers)
        let storage = example.storage
        storage.limitHandovers(
            PendingHandover.Limit(
                isWithheld: { name in marks.withheld.withLock { $0.contains(name) } },
                defaultSession: { marks.standard.withLock { $0 } }))
        let (home, work) = (try SessionName("home"), try SessionName("work"))
        try await example.running { sessions, signIns in
            func handedOver() -> [SessionName] { handovers.last.sessions.map(\.record.session) }
            for name in [home, work] {
                var start = SessionRegistryTests.start
                start.session = name
                _ = try await signIns.start(start)
            }
            #expect(handedOver() == [home, work])
            marks.withheld.withLock { $0 = [work] }
            marks.standard.withLock { $0 = home }
            storage.handoverLimitChanged()
            #expect(handedOver() == [home] && !handovers.last.isPartial)
            #expect(storage.handsOver(home) && !storage.handsOver(work))
            handovers.isBehind.withLock { $0 = true }
            #expect(!storage.handsOver(home))
            handovers.isBehind.withLock { $0 = false }
            _ = try await sessions.refresh(SessionParams(session: work))
            #expect(handedOver() == [home])
            // Only the default session has changed.
            marks.standard.withLock { $0 = work }
            storage.handoverLimitChanged()
            #expect(handedOver() == [home] && handovers.last.isPartial)
            marks.standard.withLock { $0 = nil }
            // A provider gets one renewal at a time, and a tenth of a second lies between two.
            example.clock.advance(.seconds(1))
            _ = try await sessions.refresh(SessionParams(session: home))
            #expect(handedOver() == [home] && handovers.last.isPartial)
            marks.withheld.withLock { $0 = [] }
            storage.handoverLimitChanged()
            #expect(handedOver() == [home, work] && !handovers.last.isPartial)
        }
    }

    @Test("are served by name if the default one may be missing; requests without a name wait for the store")
    func partial() async throws {
        let work = try Self.record()
        var stored = try Self.record("home")
        stored.defaultSince = stored.signedInAt
        let home = stored
        let handovers = MemoryHandoverStore(
            Handover([HandedOverSession(record: work, isStored: false, isUnsaved: true)], isPartial: true))
        let store = HeldStore(holding: home)
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), handover: handovers)
        try await example.running { sessions, _ in
            let board = sessions.context.board
            #expect(sessions.liveToken(TokenGet(session: work.session)) != nil)
            #expect(sessions.liveToken(TokenGet()) == nil && board.status(nil) == nil)
            // After one more restart the default one may be missing all the same.
            #expect(await handovers.saves.first { _ in true }?.isPartial == true)
            async let token = sessions.token(TokenGet())
            store.answer()
            let session = try await token.session
            #expect(session == home.session)
            for await _ in board.changes() where board.store.state == .ready { break }
            #expect(board.status(nil)?.session == home.session)
            #expect(!handovers.last.isPartial)
        }
    }

    @Test("of a store in memory are none")
    func memory() async throws {
        let handovers = MemoryHandoverStore()
        let example = try ExampleProvider(
            store: MemoryStore(), transport: ExampleProvider.numbering(), handover: handovers)
        try await example.running { _, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let kept = handovers.kept.withLock { $0 }
            #expect(!kept.isEmpty && kept.allSatisfy { $0.sessions.isEmpty })
        }
    }
}

/// The sessions that need a check, and the default one.
private final class Marks: Sendable {
    let withheld = Mutex<Set<SessionName>>([])
    let standard = Mutex<SessionName?>(nil)
}

/// Keeps all that it was given, in order.
private final class MemoryHandoverStore: HandoverStore {
    let kept = Mutex<[Handover]>([])
    /// This store cannot pass on what it receives.
    let isBehind = Mutex(false)
    /// Each of them as it is saved, for one listener.
    let saves: AsyncStream<Handover>
    private let saved: AsyncStream<Handover>.Continuation
    /// Runs while the sessions of the run before are being read.
    let whileLoading = Mutex<@Sendable () -> Void>({})
    private let savesAtLoading = Mutex(0)
    private let former: Handover

    init(_ former: Handover = Handover()) {
        self.former = former
        (saves, saved) = AsyncStream.makeStream()
    }

    var last: Handover { kept.withLock { $0.last ?? Handover() } }
    var hasNewest: Bool { !isBehind.withLock { $0 } }

    var savedSinceLoading: [Handover] { Array(kept.withLock { $0 }.dropFirst(savesAtLoading.withLock { $0 })) }

    func load(of kind: StoreKind) -> Handover {
        let work = whileLoading.withLock { $0 }
        work()
        savesAtLoading.withLock { $0 = kept.withLock { $0.count } }
        return former
    }

    func save(_ handover: Handover, of kind: StoreKind) {
        kept.withLock { $0.append(handover) }
        saved.yield(handover)
    }
}

/// A store such as a keyring, which answers nothing at first.
private final class HeldStore: SessionStore {
    private let kept = MemoryStore()
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>([])
    private let record: SessionRecord?
    /// Whether clients are served, and whether the store was read before.
    private let clients = Mutex((now: false, wasReadEarly: false))
    let kind = StoreKind.secretService

    func clientsAreServed() { clients.withLock { $0.now = true } }
    var wasReadEarly: Bool { clients.withLock { $0.wasReadEarly } }
    /// An element for each read of one session, for one listener.
    let comparisons: AsyncStream<Void>
    private let compared: AsyncStream<Void>.Continuation

    init(holding record: SessionRecord?) {
        self.record = record
        (comparisons, compared) = AsyncStream.makeStream()
    }

    func answer() {
        let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    private func answered() async {
        await withCheckedContinuation { continuation in
            let isOpen = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isOpen { continuation.resume() }
        }
    }

    func loadAll() async throws(StoreError) -> [StoredSession] {
        clients.withLock { $0.wasReadEarly = $0.wasReadEarly || !$0.now }
        await answered()
        return try await kept.loadAll() + (record.map { [.record($0)] } ?? [])
    }

    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        clients.withLock { $0.wasReadEarly = $0.wasReadEarly || !$0.now }
        compared.yield()
        await answered()
        return try await kept.load(session) ?? (record?.session == session ? record : nil)
    }

    func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
    func retryPrompts() async {}
    func save(_ record: SessionRecord) async throws(StoreError) { try await kept.save(record) }
    func delete(_ session: SessionName) async throws(StoreError) { try await kept.delete(session) }
    func states() -> AsyncStream<StoreState> { kept.states() }
}
