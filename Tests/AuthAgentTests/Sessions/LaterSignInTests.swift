import AgentTestSupport
import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Testing

@Suite("A sign-in on another host during a sign-out here", .timeLimit(.minutes(1)))
struct LaterSignInTests {
    /// A store that hosts share. Another host signs in while it carries out a removal.
    private final class SharedStore: SessionStore {
        private let kept = MemoryStore()
        private let news = AsyncStream<SessionName>.makeStream()
        private let probe: SessionName
        private let isFollowed = OneShot<Void>()

        init(probe: SessionName) { self.probe = probe }

        let kind = StoreKind.memory
        let showsEverything = true

        func loadAll() async throws(StoreError) -> [StoredSession] { try await kept.loadAll() }
        func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
        func retryPrompts() async {}
        func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
            guard session != probe else {
                isFollowed.send(())
                return nil
            }
            return try await kept.load(session)
        }
        func save(_ record: SessionRecord) async throws(StoreError) { try await kept.save(record) }
        func delete(_ session: SessionName) async throws(StoreError) {
            guard var other = try await kept.load(session), let signIn = SignInID("s2-1") else { return }
            (other.signIn, other.tokens.accessToken) = (signIn, Secret("of another host"))
            try await kept.save(other)
            news.continuation.yield(session)
            // Reports are handled in turn.
            news.continuation.yield(probe)
            await isFollowed.value()
        }
        func states() -> AsyncStream<StoreState> { kept.states() }
        func changes() -> AsyncStream<SessionName> { news.stream }
    }

    @Test("is read once the former session has ended")
    func during() async throws {
        let store = try SharedStore(probe: SessionName("probe"))
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            _ = try await sessions.logout(SessionLogout())
            var token: String?
            repeat {
                try Task.checkCancellation()
                await Task.yield()
                token = try? await sessions.token(TokenGet()).accessToken
            } while token == nil
            #expect(token == "of another host")
        }
    }
}
