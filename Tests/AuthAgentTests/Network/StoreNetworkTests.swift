import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("A store on other machines", .timeLimit(.minutes(1)))
struct StoreNetworkTests {
    private final class DistantStore: SessionStore {
        private let kept = MemoryStore()
        private let changes = Mutex(0)

        let kind = StoreKind.etcd
        /// How often its connections may have died.
        var ends: Int { changes.withLock { $0 } }

        func networkChanged(endsConnections: Bool) async { changes.withLock { $0 += endsConnections ? 1 : 0 } }

        func loadAll() async throws(StoreError) -> [StoredSession] { try await kept.loadAll() }
        func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
        func retryPrompts() async {}
        func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await kept.load(session) }
        func save(_ record: SessionRecord) async throws(StoreError) { try await kept.save(record) }
        func delete(_ session: SessionName) async throws(StoreError) { try await kept.delete(session) }
        func states() -> AsyncStream<StoreState> { kept.states() }
    }

    @Test("is notified of each change after which its connections may be dead, even if there are no sessions")
    func withoutSessions() async throws {
        let (readings, feed) = AsyncStream<NetworkReading>.makeStream()
        let store = DistantStore()
        let example = try ExampleProvider(
            store: store, transport: ExampleProvider.numbering(), network: FedNetwork(stream: readings))
        try await example.running { _, _ in
            feed.yield(NetworkReading(reach: .offline, generation: 1))
            for (generation, reach) in [(2, NetworkReading.Reach.internet), (3, .offline), (4, .internet)] {
                feed.yield(NetworkReading(reach: reach, generation: generation))
                while store.ends < generation - 1 {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                #expect(store.ends == generation - 1)
            }
        }
    }
}
