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

    @Test("are served while the store does not answer; requests for other sessions wait")
    func servedAtOnce() async throws {
        let record = try Self.record()
        let handovers = MemoryHandoverStore([HandedOverSession(record: record, isStored: true, isUnsaved: false)])
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
        let (handovers, store) = (MemoryHandoverStore([]), HeldStore(holding: nil))
        store.answer()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), handover: handovers)
        try await example.running { sessions, signIns in
            // Nothing that a run before has left stays.
            #expect(handovers.kept.withLock { $0 } == [[]])
            _ = try await signIns.start(SessionRegistryTests.start)
            #expect(handovers.last.map(\.record.tokens.accessToken) == [Secret("token-1")])
            _ = try await sessions.refresh(SessionParams())
            #expect(handovers.last.map(\.record.tokens.accessToken) == [Secret("token-2")])
            _ = try await sessions.logout(SessionLogout())
            #expect(handovers.last.isEmpty)
        }
    }

    @Test("are not those whose token needs a check of presence; without the default session there are none")
    func withheld() async throws {
        let (handovers, store, marks) = (MemoryHandoverStore([]), HeldStore(holding: nil), Marks())
        store.answer()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), handover: handovers)
        let storage = example.storage
        storage.limitHandovers(
            PendingHandover.Limit(
                isWithheld: { name in marks.withheld.withLock { $0.contains(name) } },
                defaultSession: { marks.standard.withLock { $0 } }))
        let (home, work) = (try SessionName("home"), try SessionName("work"))
        try await example.running { sessions, signIns in
            func handedOver() -> [SessionName] { handovers.last.map(\.record.session) }
            for name in [home, work] {
                var start = SessionRegistryTests.start
                start.session = name
                _ = try await signIns.start(start)
            }
            #expect(handedOver() == [home, work])
            marks.withheld.withLock { $0 = [work] }
            marks.standard.withLock { $0 = home }
            storage.handoverLimitChanged()
            #expect(handedOver() == [home])
            _ = try await sessions.refresh(SessionParams(session: work))
            #expect(handedOver() == [home])
            marks.standard.withLock { $0 = work }
            // A provider gets one renewal at a time, and a tenth of a second lies between two.
            example.clock.advance(.seconds(1))
            _ = try await sessions.refresh(SessionParams(session: home))
            #expect(handedOver().isEmpty)
            marks.withheld.withLock { $0 = [] }
            storage.handoverLimitChanged()
            #expect(handedOver() == [home, work])
        }
    }

    @Test("of a store in memory are none")
    func memory() async throws {
        let handovers = MemoryHandoverStore([])
        let example = try ExampleProvider(
            store: MemoryStore(), transport: ExampleProvider.numbering(), handover: handovers)
        try await example.running { _, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let kept = handovers.kept.withLock { $0 }
            #expect(!kept.isEmpty && kept.allSatisfy { $0.isEmpty })
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
    let kept = Mutex<[[HandedOverSession]]>([])
    private let former: [HandedOverSession]

    init(_ former: [HandedOverSession]) {
        self.former = former
    }

    var last: [HandedOverSession] { kept.withLock { $0.last ?? [] } }

    func load(of kind: StoreKind) -> [HandedOverSession] { former }
    func save(_ sessions: [HandedOverSession], of kind: StoreKind) { kept.withLock { $0.append(sessions) } }
}

/// A store such as a keyring, which answers nothing at first.
private final class HeldStore: SessionStore {
    private let kept = MemoryStore()
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>([])
    private let record: SessionRecord?
    let kind = StoreKind.secretService

    init(holding record: SessionRecord?) {
        self.record = record
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
        await answered()
        return try await kept.loadAll() + (record.map { [.record($0)] } ?? [])
    }

    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        await answered()
        return try await kept.load(session) ?? record
    }

    func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
    func retryPrompts() async {}
    func save(_ record: SessionRecord) async throws(StoreError) { try await kept.save(record) }
    func delete(_ session: SessionName) async throws(StoreError) { try await kept.delete(session) }
    func states() -> AsyncStream<StoreState> { kept.states() }
}
