import AgentTestSupport
import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("The agent's lock, carried out", .timeLimit(.minutes(1)))
struct LockServiceTests {
    /// Runs the lock beside a session that is signed in, for as long as the test.
    private func play(
        _ settings: LockSettings = LockSettings(), store: any LockStore = MemoryLock(),
        handover: FakeHandover = FakeHandover(), sleep: AnnouncedLockSleep = AnnouncedLockSleep(),
        sessions login: FakeLoginSessions = FakeLoginSessions(),
        record: @escaping @Sendable (LockRecord.Reason) -> Void = { _ in },
        _ test: @escaping @Sendable (LockService, ExampleProvider) async throws -> Void
    ) async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            let service = LockService(
                LockService.Dependencies(
                    context: sessions.context, registry: sessions.registry,
                    storage: SessionStorage(store: example.store, handover: handover), signIns: signIns, store: store,
                    endAccepted: {}, log: { _ in }, record: record))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await service.run(settings: StateBroadcast(settings), sleep: sleep, loginSessions: login)
                }
                try await test(service, example)
                group.cancelAll()
            }
        }
    }

    private func isLocked(_ example: ExampleProvider) async -> LockStatus? {
        let board = example.sessions.context.board
        for await _ in board.changes() { if let lock = board.lock { return lock } }
        return nil
    }

    @Test(
        "it locks when nobody has used it for the idle time; a use begins the time again, and sets no alarm")
    func idle() async throws {
        try await play(LockSettings(idle: .seconds(600))) { _, example in
            let (clock, board) = (example.clock, example.sessions.context.board)
            await clock.somebodySleeps(until: ManualClock.moment(.seconds(600)).boot)
            clock.advance(.seconds(400))
            board.recordUse()
            clock.advance(.seconds(200))
            while !clock.hasSleeper(until: ManualClock.moment(.seconds(1000)).boot) { await Task.yield() }
            #expect(!board.isLocked)
            clock.advance(.seconds(400))
            #expect(await isLocked(example)?.reason == "idle")
        }
    }

    @Test("an agent that nobody has used locks after that time, too")
    func unused() async throws {
        try await play(LockSettings(idle: .seconds(600))) { _, example in
            await example.clock.somebodySleeps(until: ManualClock.moment(.seconds(600)).boot)
            example.clock.advance(.seconds(600))
            #expect(await isLocked(example)?.reason == "idle")
        }
    }

    @Test("a lock by the agent itself is recorded with its reason; other locks are not")
    func recorded() async throws {
        let reasons = Recorded()
        try await play(LockSettings(idle: .seconds(600)), record: reasons.add) { service, example in
            await example.clock.somebodySleeps(until: ManualClock.moment(.seconds(600)).boot)
            example.clock.advance(.seconds(600))
            #expect(await isLocked(example)?.reason == "idle")
            _ = try await service.unlock(AgentUnlock(passphrase: MemoryLock.passphrase))
            _ = try await service.lock()
            await #expect(throws: AgentError.self) {
                _ = try await service.unlock(AgentUnlock(passphrase: "a wrong passphrase"))
            }
            #expect(reasons.all == [.idle])
        }
    }

    private final class Recorded: Sendable {
        private let list = Mutex<[LockRecord.Reason]>([])

        var all: [LockRecord.Reason] { list.withLock { $0 } }
        @Sendable func add(_ reason: LockRecord.Reason) { list.withLock { $0.append(reason) } }
    }

    @Test("before sleep the machine waits until the state is written")
    func sleep() async throws {
        let (store, sleep) = (MemoryLock(), AnnouncedLockSleep())
        try await play(LockSettings(beforeSleep: true), store: store, sleep: sleep) { _, example in
            await sleep.prepare()
            #expect(store.saved?.lock?.reason == .sleep)
            #expect(example.sessions.context.board.isLocked)
        }
    }

    @Test("it follows the login sessions only if the settings say so")
    func loginSessions() async throws {
        let login = FakeLoginSessions()
        try await play(LockSettings(withLoginSessions: true), sessions: login) { service, example in
            await login.send(true)
            #expect(await isLocked(example)?.reason == "login_sessions")
        }
        let unused = FakeLoginSessions()
        try await play(sessions: unused) { service, _ in
            _ = try await service.lock()
            #expect(unused.listeners == 0)
        }
    }

    @Test("what is handed over is taken away at the lock, nothing is handed over meanwhile, and all is again after it")
    func handover() async throws {
        let handover = FakeHandover()
        try await play(handover: handover) { service, example in
            #expect(handover.saves == 0)
            _ = try await service.lock()
            #expect(handover.last == [])
            _ = try await service.unlock(AgentUnlock(passphrase: MemoryLock.passphrase))
            #expect(handover.saves == 2)
        }
    }

    @Test("a state that says locked is in effect before anything is served")
    func start() async throws {
        let store = MemoryLock(LockRecord(lock: .init(since: WallTime(unixSeconds: 7), reason: .idle)))
        try await play(store: store) { service, example in
            #expect(example.sessions.context.board.lock?.since == 7)
            let status = try await service.unlock(AgentUnlock(passphrase: MemoryLock.passphrase))
            #expect(!status.isLocked && !example.sessions.context.board.isLocked)
            #expect(store.saved == LockRecord())
        }
    }

    @Test("without a place for the state nothing is locked, and no passphrase is set")
    func noPlace() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            let service = LockService(
                LockService.Dependencies(
                    context: sessions.context, registry: sessions.registry,
                    storage: SessionStorage(store: example.store), signIns: signIns, store: nil, endAccepted: {},
                    log: { _ in }))
            await #expect(throws: AgentError.self) { _ = try await service.lock() }
            do throws(AgentError) {
                _ = try await service.setPassphrase(AgentPassphrase(passphrase: "long enough"))
                Issue.record("it was set")
            } catch {
                #expect(error.message.contains("XDG_STATE_HOME"))
            }
            #expect(!sessions.context.board.isLocked)
        }
    }
}

private final class FakeHandover: HandoverStore {
    let hasNewest = true
    private let state = Mutex<(saves: Int, last: [HandedOverSession]?)>((0, nil))

    var saves: Int { state.withLock { $0.saves } }
    var last: [HandedOverSession]? { state.withLock { $0.last } }

    func load(of kind: StoreKind) -> Handover { Handover() }
    func save(_ handover: Handover, of kind: StoreKind) {
        state.withLock { $0 = ($0.saves + 1, handover.sessions) }
    }
}

private final class FakeLoginSessions: LoginSessionWatch {
    private let continuations = Mutex<[AsyncStream<Bool>.Continuation]>([])
    private let asked = OneShot<Void>()

    var listeners: Int { continuations.withLock { $0.count } }

    func areLocked() -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        continuations.withLock { $0.append(continuation) }
        asked.send(())
        return stream
    }

    /// When somebody listens.
    func send(_ areLocked: Bool) async {
        _ = await asked.value()
        for continuation in continuations.withLock({ $0 }) { continuation.yield(areLocked) }
    }
}

private final class AnnouncedLockSleep: SleepWatch {
    private let (stream, continuation) = AsyncStream.makeStream(of: SleepEvent.self)

    func events() -> AsyncStream<SleepEvent> { stream }

    /// Returns when the machine may sleep.
    func prepare() async {
        let released = OneShot<Void>()
        continuation.yield(.preparing(SleepHold { released.send(()) }))
        _ = await released.value()
    }
}
