import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("Marks of sign-outs", .timeLimit(.minutes(1)))
struct PendingSignOutsTests {
    /// A disk that a test can hold, call by call, or that is full.
    private final class HeldDisk: StateStore {
        let content = Mutex<[SessionName: SignInID]>([:])
        let holds: [Hold]
        let isFull: Bool
        let notes = RecordedNotes()
        private let calls = Counter()

        init(holds: [Hold] = [], isFull: Bool = false) {
            (self.holds, self.isFull) = (holds, isFull)
        }

        func load() -> [SessionName: SignInID] { content.withLock { $0 } }

        func write(_ value: [SessionName: SignInID]) { content.withLock { $0 = value } }

        func save(_ newest: @escaping @Sendable () -> [SessionName: SignInID]) async throws(StoreError) {
            let call = calls.next()
            if call <= holds.count { await holds[call - 1].pass() }
            if isFull { throw .failed(reason: "the disk is full") }
            let marks = newest()
            content.withLock { $0 = marks }
            notes.add(marks.isEmpty ? "none" : marks.keys.map(\.text).sorted().joined(separator: " "))
        }
    }

    private func record(_ name: String) throws -> SessionRecord {
        var record = try Sample.record()
        record.session = try SessionName(name)
        return record
    }

    @Test("that are written in a different order than they were made never lose the newer one")
    func order() async throws {
        let disk = HeldDisk(holds: [Hold(), Hold()])
        let signOuts = PendingSignOuts(store: disk)
        let (home, work) = (try record("home"), try record("work"))
        signOuts.begin(home)
        let first = Task { await signOuts.keep() }
        await disk.holds[0].isReached()
        signOuts.begin(work)
        let second = Task { await signOuts.keep() }
        await disk.holds[1].isReached()
        disk.holds[1].release()
        #expect(await second.value == nil)
        disk.holds[0].release()
        #expect(await first.value == nil)
        #expect(disk.load().keys.map(\.text).sorted() == ["home", "work"])
        #expect(signOuts.cover(home) && signOuts.cover(work))
    }

    @Test("are on the disk before a sign-out that the store has not carried out is answered, and go with the session")
    func answered() async throws {
        let (disk, store) = (HeldDisk(holds: [Hold()]), ClosedStore())
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), signOuts: disk)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            store.accepts.withLock { $0 = false }
            let logout = Task {
                do {
                    _ = try await sessions.logout(SessionLogout())
                } catch {
                    disk.notes.add("answered")
                }
            }
            await disk.holds[0].isReached()
            disk.holds[0].release()
            await logout.value
            #expect(disk.notes.all == ["example", "answered"])
            store.accepts.withLock { $0 = true }
            // The store is tried again by itself.
            await example.clock.somebodySleeps(until: example.clock.now().boot + Backoff.longest)
            example.clock.advance(Backoff.longest)
            for await _ in sessions.context.board.changes() where sessions.context.board.status(nil) == nil { break }
        }
        #expect(disk.notes.all.last == "none")
    }

    @Test("go when the session is signed in again, or a locked keyring would hide it at the next start")
    func signedInAgain() async throws {
        let (disk, store) = (HeldDisk(), ClosedStore())
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering(), signOuts: disk)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            store.accepts.withLock { $0 = false }
            await #expect(throws: AgentError.self) { try await sessions.logout(SessionLogout()) }
            #expect(disk.notes.all == ["example"])
            _ = try await signIns.start(SessionRegistryTests.start)
            while disk.notes.all.last != "none" { await Task.yield() }
            #expect(try sessions.status(nil).state == .active)
        }
        #expect(disk.load().isEmpty)
    }

    @Test("that cannot be written are named, if the store has not let go of the session either")
    func full() async throws {
        let store = ClosedStore()
        let example = try ExampleProvider(
            store: store, transport: ExampleProvider.numbering(), signOuts: HeldDisk(isFull: true))
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            store.accepts.withLock { $0 = false }
            let error = await #expect(throws: AgentError.self) { try await sessions.logout(SessionLogout()) }
            #expect(error?.message.contains("the disk is full") == true)
            #expect(error?.message.contains("the session returns") == true)
        }
    }

    /// A store in memory that removes nothing while it is closed.
    private final class ClosedStore: SessionStore {
        let accepts = Mutex(true)
        private let kept = MemoryStore()
        var kind: StoreKind { .secretService }

        func delete(_ session: SessionName) async throws(StoreError) {
            guard accepts.withLock({ $0 }) else { throw .failed(reason: "closed") }
            try await kept.delete(session)
        }
        func save(_ record: SessionRecord) async throws(StoreError) { try await kept.save(record) }
        func loadAll() async throws(StoreError) -> [StoredSession] { try await kept.loadAll() }
        func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
        func retryPrompts() async {}
        func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await kept.load(session) }
        func states() -> AsyncStream<StoreState> { kept.states() }
    }
}
