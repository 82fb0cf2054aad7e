import AuthAgent
import AuthModel
import AuthWire
import Testing

@Suite("A record that cannot be understood")
struct DamagedRecordTests {
    @Test("is reported with its session's name, is not a session, and is replaced when the user signs in again")
    func reported() async throws {
        let example = try ExampleProvider(store: StoreWithDamage(), transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            let work = try SessionName("work")
            #expect(sessions.context.board.store.state == .ready)
            #expect(sessions.context.board.store.message?.contains("work cannot be read (no end)") == true)
            let named = #expect(throws: AgentError.self) { try sessions.status(work) }
            #expect(named?.kind == .unknownSession && named?.cause == "damaged")
            let unnamed = #expect(throws: AgentError.self) { try sessions.status(nil) }
            #expect(unnamed?.kind == .notSignedIn && unnamed?.message.contains("Signing in to it again") == true)

            var start = SessionRegistryTests.start
            start.session = work
            _ = try await signIns.start(start)
            #expect(sessions.context.board.store.message == nil)
            #expect(try sessions.status(work).state == .active)
        }
    }
}

@Suite("Waiting for a sign-out")
struct SignOutWaitTests {
    @Test("ends at once if no one is signed in, and says so")
    func nobody() async throws {
        let example = try ExampleProvider(store: MemoryStore(), transport: ExampleProvider.numbering())
        try await example.running { sessions, _ in
            let error = await #expect(throws: AgentError.self) {
                _ = try await sessions.wait(SessionWait(until: .signedOut))
            }
            #expect(error?.kind == .notSignedIn)
        }
    }
}

/// Holds a record that no authd can read, beside those that are saved.
private struct StoreWithDamage: SessionStore {
    private let kept = MemoryStore()
    var kind: StoreKind { .secretService }

    func loadAll() async throws(StoreError) -> [StoredSession] {
        try await kept.loadAll() + [.damaged(session: "work", reason: "no end")]
    }

    func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
    func retryPrompts() async {}
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await kept.load(session) }
    func save(_ record: SessionRecord) async throws(StoreError) { try await kept.save(record) }
    func delete(_ session: SessionName) async throws(StoreError) { try await kept.delete(session) }
    func states() -> AsyncStream<StoreState> { kept.states() }
}
