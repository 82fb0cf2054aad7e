import AuthAgent
import AuthModel
import AuthWire
import Testing

@Suite("The outbox when its callers, or the agent, go", .timeLimit(.minutes(1)))
struct OutboxStopTests {
    /// Entries in memory, and calls that a test can hold.
    private actor HeldOutbox: OutboxStore {
        private(set) var entries: [OutboxEntry]
        private let request: OutboxRequest
        nonisolated let holds: [String: Hold]
        /// How often what is sent was read.
        private(set) var reads = 0

        init(_ entries: [OutboxEntry] = [], _ request: OutboxRequest, held: [String: Hold] = [:]) {
            (self.entries, self.request, holds) = (entries, request, held)
        }

        nonisolated var mayHoldEntries: Bool { true }

        private nonisolated func pass(_ call: String) async throws(OutboxError) {
            guard await holds[call]?.pass() ?? true else { throw .disk(reason: "\(call) was cut off") }
        }

        func all() async throws(OutboxError) -> [OutboxEntry] {
            try await pass("all")
            return entries
        }
        func request(of id: String) -> OutboxRequest? {
            reads += 1
            return request
        }
        func add(_ entry: OutboxEntry, _ request: OutboxRequest) async throws(OutboxError) {
            try await pass("add")
            entries.append(entry)
        }
        func record(_ finalRefusal: AgentError?, for id: String) {}
        func remove(_ id: String) async throws(OutboxError) {
            try await pass("remove")
            entries.removeAll { $0.id == id }
        }
        func close() {}
    }

    private static let request = OutboxRequest.request(
        APIRequest(method: "POST", path: "/votes", queue: true))

    private static func entry() throws -> OutboxEntry {
        OutboxEntry(
            id: "a", session: try SessionName("example"),
            owner: .init(provider: "example", environment: "local", userID: "7"), title: "vote",
            idempotencyKey: "key-a", queuedAt: WallTime(unixSeconds: 1))
    }

    /// An outbox with that store, at a provider that answers when `provider` is released.
    private func play(
        _ store: HeldOutbox, provider: Hold, _ test: @escaping @Sendable (Outbox) async throws -> Void
    ) async throws {
        try await APIClientTests.play(try Self.example(provider)) { sessions, api in
            try await test(
                Outbox(context: sessions.context, api: api, store: store, seed: 1, publish: { _ in }))
        }
    }

    private static func example(_ provider: Hold) throws -> ExampleProvider {
        try APIClientTests.provider { _, _ throws(TransportError) in
            guard await provider.pass() else { throw .cancelled }
            return ExampleProvider.json(200, "{}")
        }
    }

    private static func error<Value>(_ task: Task<Value, any Error>) async -> AgentError? {
        do {
            _ = try await task.value
            return nil
        } catch {
            return error as? AgentError
        }
    }

    @Test("a flush that is cancelled ends, although the provider never answers")
    func cancelledFlush() async throws {
        let provider = Hold()
        try await play(HeldOutbox([Self.entry()], Self.request), provider: provider) { outbox in
            let run = Task { await outbox.run() }
            await provider.isReached()
            let flush = Task { try await outbox.flush(OutboxParams()) }
            flush.cancel()
            #expect(await Self.error(flush) == .callerGone)
            run.cancel()
            await run.value
        }
    }

    @Test("a flush in progress ends with `stopping` at the agent's end, and so do later requests")
    func end() async throws {
        let provider = Hold()
        let store = HeldOutbox([try Self.entry()], Self.request)
        try await play(store, provider: provider) { outbox in
            let run = Task { await outbox.run() }
            await provider.isReached()
            let flushes = (1...3).map { _ in Task { try await outbox.flush(OutboxParams()) } }
            run.cancel()
            await run.value
            for flush in flushes { #expect(await Self.error(flush) == .stopping) }
            await #expect(throws: AgentError.stopping) { try await outbox.flush(OutboxParams()) }
            await #expect(throws: AgentError.stopping) { try await outbox.post(Self.request) }
            // What was not answered is there for the next run; nothing was added.
            #expect(await store.entries.map(\.id) == ["a"])
        }
    }

    @Test("a write that was being stored at the agent's end is stored, and its caller learns that it waits")
    func writtenAtTheEnd() async throws {
        let add = Hold()
        let store = HeldOutbox([], Self.request, held: ["add": add])
        try await play(store, provider: Hold()) { outbox in
            let run = Task { await outbox.run() }
            let post = Task { try await outbox.post(Self.request) }
            await add.isReached()
            run.cancel()
            await run.value
            add.release()
            let answer = try await post.value
            #expect(answer.status == 202)
            #expect(await store.entries.map(\.id) == [answer.queued])
        }
    }

    @Test("a write whose caller waits for the provider at the agent's end is kept, and its caller learns that it waits")
    func waitingAtTheEnd() async throws {
        let provider = Hold()
        let store = HeldOutbox([], Self.request)
        try await play(store, provider: provider) { outbox in
            let run = Task { await outbox.run() }
            let post = Task { try await outbox.post(Self.request) }
            await provider.isReached()
            run.cancel()
            await run.value
            let answer = try await post.value
            #expect(answer.status == 202)
            #expect(await store.entries.map(\.id) == [answer.queued])
        }
    }

    @Test("a caller that goes while the provider is silent leaves its write behind")
    func cancelledPost() async throws {
        let provider = Hold()
        let store = HeldOutbox([], Self.request)
        try await play(store, provider: provider) { outbox in
            let run = Task { await outbox.run() }
            let post = Task { try await outbox.post(Self.request) }
            await provider.isReached()
            post.cancel()
            let answer = try await post.value
            #expect(answer.status == 202)
            #expect(await store.entries.count == 1)
            run.cancel()
            await run.value
        }
    }

    @Test("a caller that waits for the disk can be cancelled, and the next one continues")
    func turns() async throws {
        let all = Hold()
        try await play(HeldOutbox([], Self.request, held: ["all": all]), provider: Hold()) { outbox in
            let first = Task { try await outbox.list(OutboxParams()) }
            await all.isReached()
            let second = Task { try await outbox.list(OutboxParams()) }
            let third = Task { try await outbox.list(OutboxParams()) }
            second.cancel()
            #expect(await Self.error(second) == .callerGone)
            all.release()
            for list in [first, third] {
                let entries = try await list.value.entries
                #expect(entries.isEmpty)
            }
        }
    }

    @Test("a write that the provider has answered is removed, although the agent ends meanwhile")
    func struckOut() async throws {
        let (provider, remove) = (Hold(), Hold())
        let store = HeldOutbox([try Self.entry()], Self.request, held: ["remove": remove])
        let example = try Self.example(provider)
        let agent = Task { await example.loader.run() }
        await example.loader.ready()
        _ = try await example.signIns.start(
            SessionRegistryTests.start)
        let outbox = Outbox(
            context: example.sessions.context, api: example.apiClient, store: store, seed: 1, publish: { _ in })
        let run = Task { await outbox.run() }
        provider.release()
        await remove.isReached()
        run.cancel()
        await run.value
        // A call that can be cut off is cut off here.
        agent.cancel()
        remove.release()
        await agent.value
        #expect(await store.entries.isEmpty)
    }

    @Test("an answer that comes after the outbox has ended, and before the agent has, is recorded")
    func answeredAtTheEnd() async throws {
        let (provider, remove) = (Hold(), Hold())
        let store = HeldOutbox([try Self.entry()], Self.request, held: ["remove": remove])
        try await play(store, provider: provider) { outbox in
            let run = Task { await outbox.run() }
            await provider.isReached()
            run.cancel()
            await run.value
            provider.release()
            await remove.isReached()
            remove.release()
        }
        #expect(await store.entries.isEmpty)
    }

    @Test("a write that was just stored is sent without reading it back")
    func notReadBack() async throws {
        let provider = Hold()
        let store = HeldOutbox([], Self.request)
        try await play(store, provider: provider) { outbox in
            let run = Task { await outbox.run() }
            provider.release()
            let answer = try await outbox.post(Self.request)
            #expect(answer.status == 200)
            #expect(await store.reads == 0)
            run.cancel()
            await run.value
        }
    }

    @Test("a caller that is cancelled while its write is on its way to the disk learns that it waits")
    func cancelledWhileWriting() async throws {
        let add = Hold()
        let store = HeldOutbox([], Self.request, held: ["add": add])
        try await play(store, provider: Hold()) { outbox in
            let run = Task { await outbox.run() }
            let post = Task { try await outbox.post(Self.request) }
            await add.isReached()
            post.cancel()
            add.release()
            let answer = try await post.value
            #expect(answer.status == 202)
            #expect(await store.entries.map(\.id) == [answer.queued])
            run.cancel()
            await run.value
        }
    }
}
