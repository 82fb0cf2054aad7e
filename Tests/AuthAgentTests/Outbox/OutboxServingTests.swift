import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("The outbox", .timeLimit(.minutes(1)))
struct OutboxServingTests {
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
        func record(_ finalRefusal: AgentError?, for id: String) {}
        func remove(_ id: String) { entries.removeAll { $0.id == id } }
        func close() {}
    }

    @Test("an outbox that cannot be read at the start is read again later, and its writes are sent")
    func readAgain() async throws {
        let (sent, sending) = AsyncStream<String>.makeStream()
        let example = try APIClientTests.provider { request, _ throws(TransportError) in
            sending.yield(request.url)
            return ExampleProvider.json(200, "{}")
        }
        try await APIClientTests.play(example) { sessions, api in
            let session = try SessionName("example")
            let entry = OutboxEntry(
                id: "a", session: session, owner: .init(provider: "example", environment: "local", userID: "7"),
                title: "vote", idempotencyKey: "key-a", queuedAt: WallTime(unixSeconds: 1))
            let params = APIRequest(session: session, method: "POST", path: "/votes", queue: true)
            let store = FailingOutbox(entry, .request(params), failures: 2)
            let outbox = Outbox(
                context: sessions.context, api: api, store: store, seed: 1, publish: { _ in })
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await outbox.run() }
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

    @Test(
        "a write whose answer is a success that cannot be used is done; a key that is too long is refused",
        arguments: [(201, "{", false), (200, #"{"id":7}"#, true), (303, "<html>See there</html>", false)])
    func unusableAnswer(status: Int, body: String, hasEnvelope: Bool) async throws {
        let (sent, sending) = AsyncStream<String>.makeStream()
        let transport = ScriptedTransport { request throws(TransportError) in
            guard request.url.hasSuffix("/votes") else {
                return ExampleProvider.json(200, #"{"ok":1,"token":"t","expires_in":1000,"user":{"id":"7"}}"#)
            }
            #expect(request.acceptsRedirects)
            sending.yield(request.url)
            return ExampleProvider.json(status, body)
        }
        let example = try ExampleProvider(transport: transport) { profile in
            if hasEnvelope { profile.errors.envelope = .init(pointer: try JSONPointer("/ok"), success: 1) }
        }
        try await APIClientTests.play(example) { sessions, api in
            let session = try SessionName("example")
            let entry = OutboxEntry(
                id: "a", session: session, owner: .init(provider: "example", environment: "local", userID: "7"),
                title: "vote", idempotencyKey: "key-a", queuedAt: WallTime(unixSeconds: 1))
            var params = APIRequest(session: session, method: "POST", path: "/votes", queue: true)
            let store = FailingOutbox(entry, .request(params), failures: 0)
            let outbox = Outbox(context: sessions.context, api: api, store: store, seed: 1, publish: { _ in })
            params.headers["Idempotency-Key"] = String(repeating: "k", count: 256)
            try await withThrowingTaskGroup(of: Void.self) { [params] group in
                group.addTask { await outbox.run() }
                var urls = sent.makeAsyncIterator()
                #expect(await urls.next() == "http://localhost:1/votes")
                while try await !outbox.list(OutboxParams()).entries.isEmpty {}
                await #expect {
                    try await outbox.post(.request(params))
                } throws: { error in
                    (error as? AgentError)?.kind == .validation
                }
                group.cancelAll()
            }
        }
    }

    @Test("a write is decided again when it is sent, with the caller who queued it, and a refusal is final")
    func decidedAgain() async throws {
        let (sent, sending) = AsyncStream<String>.makeStream()
        let example = try APIClientTests.provider { request, _ throws(TransportError) in
            sending.yield(request.url)
            return ExampleProvider.json(200, "{}")
        }
        try await APIClientTests.play(example) { sessions, api in
            let session = try SessionName("example")
            func entry(_ id: String, by caller: AccessFacts?) -> OutboxEntry {
                OutboxEntry(
                    id: id, session: session, owner: .init(provider: "example", environment: "local", userID: "7"),
                    title: "vote", idempotencyKey: "key-\(id)", queuedAt: WallTime(unixSeconds: 1), caller: caller)
            }
            let params = APIRequest(session: session, method: "POST", path: "/votes", queue: true)
            let refused = AccessFacts(sandbox: .text("flatpak"))
            let store = FailingOutbox(entry("a", by: refused), .request(params), failures: 0)
            await store.add(entry("b", by: AccessFacts()), .request(params))
            await store.add(entry("c", by: nil), .request(params))
            let (records, recording) = AsyncStream<WriteAttempt>.makeStream()
            let outbox = Outbox(
                context: sessions.context, api: api, store: store, seed: 1,
                decide: { request, caller in
                    #expect(request == .request(params))
                    let error = AgentError(.denied, "A rule denies it.", cause: "access_rule")
                    return caller == refused
                        ? WriteDecision(rule: "user.no", enforced: true, refusal: error)
                        : WriteDecision(rule: "default.act", enforced: nil)
                }, record: { recording.yield($0) }, publish: { _ in })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await outbox.run() }
                var urls = sent.makeAsyncIterator()
                for _ in 1...2 { #expect(await urls.next() == "http://localhost:1/votes") }
                var left = try await outbox.list(OutboxParams()).entries
                while left.count > 1 { left = try await outbox.list(OutboxParams()).entries }
                #expect(left.map(\.id) == ["a"] && left.first?.state == .givenUp)
                #expect(left.first?.error?.cause == "access_rule")
                group.cancelAll()
            }
            recording.finish()
            let recorded = await records.reduce(into: []) { $0.append($1) }
            #expect(recorded.map(\.entry.id) == ["a", "b", "c"])
            #expect(recorded.map { $0.decision?.rule } == ["user.no", "default.act", nil])
            #expect(recorded.map { $0.error?.cause } == ["access_rule", nil, nil])
        }
    }

    @Test("each try is recorded, and tries of a write that fail in the same way once")
    func recorded() async throws {
        let answers = Mutex([503, 503, 503, 200])
        let example = try APIClientTests.provider { _, _ throws(TransportError) in
            ExampleProvider.json(answers.withLock { $0.removeFirst() }, "{}")
        }
        try await APIClientTests.play(example) { sessions, api in
            let session = try SessionName("example")
            let entry = OutboxEntry(
                id: "a", session: session, owner: .init(provider: "example", environment: "local", userID: "7"),
                title: "vote", idempotencyKey: "key-a", queuedAt: WallTime(unixSeconds: 1), caller: AccessFacts())
            let params = APIRequest(session: session, method: "POST", path: "/votes", queue: true)
            let (records, recording) = AsyncStream<WriteAttempt>.makeStream()
            let outbox = Outbox(
                context: sessions.context, api: api,
                store: FailingOutbox(entry, .request(params), failures: 0), seed: 1,
                record: { recording.yield($0) }, publish: { _ in })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await outbox.run() }
                // Each flush is one try.
                while try await !outbox.flush(OutboxParams()).entries.isEmpty { try Task.checkCancellation() }
                group.cancelAll()
            }
            recording.finish()
            let kinds = await records.reduce(into: []) { $0.append($1.error?.kind) }
            let left = answers.withLock { $0.count }
            #expect(left == 0)
            #expect(kinds.count == 2 && kinds.first != .some(nil) && kinds.last == .some(nil), "\(kinds)")
        }
    }

    @Test("a form is sent again with the same bytes, without the caller's own key")
    func boundary() async throws {
        let (sent, sending) = AsyncStream<(type: String?, body: String?)>.makeStream()
        let example = try APIClientTests.provider { request, _ throws(TransportError) in
            let type = request.headers.first { $0.name == "Content-Type" }?.value.reveal()
            sending.yield((type, request.body?.reveal()))
            return ExampleProvider.json(200, "{}")
        }
        try await APIClientTests.play(example) { _, api in
            let session = try SessionName("example")
            let key = "chosen-by-the-caller"
            let params = APIRequest(
                session: session, method: "POST", path: "/votes", headers: ["Idempotency-Key": key],
                multipart: [MultipartPart(name: "vote", content: .text("yes"))], queue: true)
            func entry(_ boundary: String?) -> OutboxEntry {
                OutboxEntry(
                    id: "a", session: session, owner: .init(provider: "example", environment: "local"), title: "vote",
                    idempotencyKey: key, boundary: boundary, queuedAt: WallTime(unixSeconds: 1))
            }
            let kept = MultipartBody.newBoundary()
            for boundary in [kept, kept, nil] { _ = try await api.send(.request(params), entry(boundary)) }
            var requests = sent.makeAsyncIterator()
            let (first, second, old) = (await requests.next(), await requests.next(), await requests.next())
            #expect(first?.type == "multipart/form-data; boundary=" + kept)
            #expect(first?.body == second?.body && first?.type == second?.type)
            for request in [first, old] {
                #expect(request?.body?.contains(key) == false && request?.type?.contains(key) == false)
            }
            #expect(old?.body != first?.body)
        }
    }

    @Test("a boundary is made of the system's random bytes, and is one that RFC 2046 §5.1.1 allows")
    func newBoundary() {
        let made = (0..<100).map { _ in MultipartBody.newBoundary() }
        #expect(Set(made).count == 100)
        for boundary in made { #expect(boundary.wholeMatch(of: /authd-[A-Za-z0-9_-]{43}/) != nil, "\(boundary)") }
    }

    @Test("a key is a version 4 UUID of the system's random bytes (RFC 9562 §5.4)")
    func newKey() {
        let made = (0..<100).map { _ in OutboxEntry.newKey() }
        #expect(Set(made).count == 100)
        for key in made {
            let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
            #expect(key.wholeMatch(of: form) != nil, "\(key)")
        }
    }

    @Test("the boundary of a form that is queued does not contain the caller's key, and each form has another one")
    func boundaryOfQueued() async throws {
        let example = try APIClientTests.provider { _, _ throws(TransportError) in ExampleProvider.json(200, "{}") }
        try await APIClientTests.play(example) { _, api in
            let key = "chosen-by-the-caller"
            let params = APIRequest(
                session: try SessionName("example"), method: "POST", path: "/votes",
                headers: ["Idempotency-Key": key],
                multipart: [MultipartPart(name: "vote", content: .text("yes"))], queue: true)
            var boundaries: Set<String> = []
            for _ in 1...2 {
                let (entry, _) = try await api.prepare(.request(params))
                #expect(entry.idempotencyKey == key)
                let boundary = try #require(entry.boundary)
                #expect(!boundary.contains(key))
                boundaries.insert(boundary)
            }
            #expect(boundaries.count == 2)
        }
    }

    @Test("an entry is sent with the sign-in it was made for, and with another only if the user names it")
    func signIn() async throws {
        let (sent, sending) = AsyncStream<String>.makeStream()
        let example = try APIClientTests.provider { request, _ throws(TransportError) in
            sending.yield(request.url)
            return ExampleProvider.json(200, "{}")
        }
        try await APIClientTests.play(example) { sessions, api in
            let session = try SessionName("example")
            let present = try await sessions.registry.session(session).record.signIn
            let params = APIRequest(session: session, method: "POST", path: "/votes", queue: true)
            func entry(_ signIn: SignInID?) -> OutboxEntry {
                OutboxEntry(
                    id: "a", session: session, owner: .init(provider: "example", environment: "local"), signIn: signIn,
                    title: "vote", idempotencyKey: "key-a", queuedAt: WallTime(unixSeconds: 1))
            }
            let error = await #expect(throws: AgentError.self) {
                try await api.send(.request(params), entry(SignInID.random()))
            }
            #expect(error?.kind == .denied && error?.cause == "other_sign_in")
            #expect(error?.isFinalForWrite == true)
            _ = try await api.send(.request(params), entry(present))
            // An older authd did not write it down.
            _ = try await api.send(.request(params), entry(nil))
            _ = try await api.send(.request(params), entry(SignInID.random()), inAnySignIn: true)
            sending.finish()
            #expect(await sent.reduce(0) { count, _ in count + 1 } == 3)
        }
    }
}
