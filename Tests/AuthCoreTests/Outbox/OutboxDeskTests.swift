import AuthCore
import AuthWire
import Testing

@Suite("The outbox's desk", .timeLimit(.minutes(1)))
struct OutboxDeskTests {
    /// One write, on a disk that fails at first.
    private actor FailingOutbox: OutboxStore {
        private let request: OutboxRequest
        private var entries: [OutboxEntry]
        private var failures: Int
        /// Each try to read it.
        nonisolated let reads: AsyncStream<Void>
        private let reading: AsyncStream<Void>.Continuation

        init(_ entry: OutboxEntry, _ request: OutboxRequest, failures: Int) {
            (reads, reading) = AsyncStream.makeStream()
            (entries, self.request, self.failures) = ([entry], request, failures)
        }

        nonisolated var mayHoldEntries: Bool { true }

        func all() throws(OutboxError) -> [OutboxEntry] {
            reading.yield()
            failures -= 1
            if failures >= 0 { throw .disk(reason: "disk I/O error") }
            return entries
        }

        func request(of id: String) -> OutboxRequest? { request }
        func add(_ entry: OutboxEntry, _ request: OutboxRequest) { entries.append(entry) }
        func note(_ verdict: AgentError?, on id: String) {}
        func remove(_ id: String) { entries.removeAll { $0.id == id } }
        func rest() {}
    }

    @Test("an outbox that cannot be read at the start is read again by itself, and what waits in it is sent")
    func readAgain() async throws {
        let (sent, sending) = AsyncStream<String>.makeStream()
        let example = try APIDeskTests.provider { request, _ throws(TransportError) in
            sending.yield(request.url)
            return ExampleProvider.json(200, "{}")
        }
        try await APIDeskTests.play(example) { table, api in
            let session = try SessionName("example")
            let entry = OutboxEntry(
                id: "a", session: session, owner: .init(provider: "example", environment: "local", userID: "7"),
                title: "vote", idempotencyKey: "key-a", queuedAt: WallTime(unixSeconds: 1))
            let params = APIRequestParams(session: session, method: "POST", path: "/votes", queue: true)
            let store = FailingOutbox(entry, .request(params), failures: 2)
            let desk = OutboxDesk(
                table: table, api: api, store: store, clock: example.clock, seed: 1, publish: { _ in })
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await desk.run() }
                var reads = store.reads.makeAsyncIterator()
                for _ in 1...2 {
                    await reads.next()
                    await example.clock.somebodySleeps(until: example.clock.now().boot + Backoff.longest)
                    example.clock.advance(Backoff.longest)
                }
                var urls = sent.makeAsyncIterator()
                #expect(await urls.next() == "http://localhost:1/votes")
                group.cancelAll()
            }
        }
    }
}
