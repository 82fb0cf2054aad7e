import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("A store that changes while the agent runs", .timeLimit(.minutes(1)))
struct ChangedStoreTests {
    @Test("does not bring back a session that was signed out of while everything was read")
    func signedOutDuringReading() async throws {
        let store = WatchedStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            let board = sessions.context.board
            _ = try await signIns.start(SessionRegistryTests.start)
            store.set(.failed)
            for await _ in board.changes() where board.store.state == .failed { break }
            store.afterReading { _ = try? await sessions.logout(SessionLogout()) }
            example.loader.startRetry()
            for await _ in board.changes() where board.store.state == .ready { break }
            #expect(try sessions.list().isEmpty)
            #expect(try await store.kept.loadAll().isEmpty)
        }
    }

    @Test("may have another sign-in, which is renewed as that one can be")
    func otherMeans() async throws {
        let store = WatchedStore()
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering()) {
            $0.renewal = Renewal(kind: .signIn)
        }
        try await example.running { sessions, signIns in
            let board = sessions.context.board
            _ = try await signIns.start(SessionRegistryTests.start)
            let status = try sessions.status(nil)
            #expect(!status.renews)
            let name = status.session
            var other = try #require(try await store.kept.load(name))
            other.signIn = try #require(SignInID("s2-1"))
            other.remembered = SessionRegistryTests.fields.mapValues { Secret($0) }
            try await store.change(other)
            for await _ in board.changes() where board.status(name)?.renews == true { break }
            #expect(board.snapshot(name)?.signIn == other.signIn)
        }
    }
}
