import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("A renewal under a hold", .timeLimit(.minutes(1)))
struct HeldRenewalTests {
    /// A store that hosts share, with one host. Its lease lasts ten seconds, and is kept alive unless a test ends it.
    private final class SharedStore: SessionStore, LeaseStore {
        private let kept = MemoryStore()
        private let endings = Mutex<[HoldOutcome.FormerHold]>([])

        /// Another host has written it before the next write.
        let written = Mutex<SessionRecord?>(nil)

        let kind = StoreKind.memory
        var leases: (any LeaseStore)? { self }
        /// How holds have ended that brought no newer tokens.
        var released: [HoldOutcome.FormerHold] { endings.withLock { $0 } }

        func loadAll() async throws(StoreError) -> [StoredSession] { try await kept.loadAll() }
        func names() async throws(StoreError) -> [StoredName] { try await kept.names() }
        func retryPrompts() async {}
        func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? { try await kept.load(session) }
        func save(_ record: SessionRecord) async throws(StoreError) { try await kept.save(record) }
        func update(_ record: SessionRecord, replacesOther: Bool) async throws(StoreError) -> UpdateOutcome {
            if let other = written.withLock({ $0.take() }) {
                try await kept.save(other)
                return .refused(by: other)
            }
            let outcome = try await kept.update(record, replacesOther: replacesOther)
            return outcome == .written() ? .written(endsHold: true) : outcome
        }
        func delete(_ session: SessionName) async throws(StoreError) { try await kept.delete(session) }
        func states() -> AsyncStream<StoreState> { kept.states() }

        func grantLease() async throws(StoreError) -> GrantedLease { GrantedLease(LeaseID(1), lasts: .seconds(10)) }
        func keepAlive(_ lease: LeaseID) async throws(StoreError) -> Duration? { .seconds(10) }
        func hold(
            _ session: SessionName, for version: RecordVersion, under lease: LeaseID
        ) async throws(StoreError) -> HoldOutcome {
            .held(try await load(session), after: .answered)
        }
        func claim(_ session: SessionName, for version: RecordVersion) async throws(StoreError) -> SessionRecord? {
            try await load(session)
        }
        func release(_ session: SessionName, leaving end: HoldOutcome.FormerHold) async throws(StoreError) {
            endings.withLock { $0.append(end) }
        }
    }

    @Test("sends no second request after its lease has ended, and the next holder learns that the first was answered")
    func secondRequest() async throws {
        for isSlow in [false, true] {
            let store = SharedStore()
            let clock = Mutex<ManualClock?>(nil)
            let numbers = Counter()
            let transport = ScriptedTransport { request throws(TransportError) in
                guard request.url.hasSuffix("/refresh") else {
                    return ExampleProvider.json(
                        200, #"{"token":"token-\#(numbers.next())","expires_in":1000,"user":{"id":"7"}}"#)
                }
                // As a process does that was stopped: nothing kept the lease alive meanwhile.
                if isSlow { clock.withLock { $0 }?.advance(.seconds(20)) }
                return ExampleProvider.json(401, #"{"message":"This session has ended"}"#)
            }
            let example = try ExampleProvider(store: store, transport: transport)
            clock.withLock { $0 = example.clock }
            try await example.running { sessions, signIns in
                _ = try await signIns.start(
                    LoginStart(provider: "example", fields: SessionRegistryTests.fields, remember: true))
                let refreshed = try? await sessions.refresh(SessionParams())
                #expect((refreshed == nil) == isSlow)
                let signIns = transport.asked.count { $0.hasSuffix("/login") }
                #expect(signIns == (isSlow ? 1 : 2), "\(transport.asked)")
                if isSlow { #expect(try sessions.status(nil).lastError?.contains("lease") == true) }
            }
            #expect(store.released == (isSlow ? [.answered] : []))
        }
    }

    @Test(
        "leaves no doubt about tokens that were certainly not sent, and a doubt about all others",
        arguments: [
            (TransportError.connectionRefused(host: "api.example.com"), HoldOutcome.FormerHold.answered),
            (.nameNotResolved(host: "api.example.com"), .answered),
            (.certificate(host: "api.example.com", reason: "it has expired"), .answered),
            (.connectionLost(host: "api.example.com", reason: "the other side closed it"), .unanswered),
            (.timedOut(host: "api.example.com", after: .seconds(30)), .unanswered),
        ])
    func notSent(_ error: TransportError, _ end: HoldOutcome.FormerHold) async throws {
        let store = SharedStore()
        let transport = ScriptedTransport { request throws(TransportError) in
            if request.url.hasSuffix("/refresh") { throw error }
            return ExampleProvider.json(200, #"{"token":"token-1","expires_in":1000,"user":{"id":"7"}}"#)
        }
        let example = try ExampleProvider(store: store, transport: transport)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(
                LoginStart(provider: "example", fields: SessionRegistryTests.fields, remember: true))
            _ = try? await sessions.refresh(SessionParams())
            while store.released.isEmpty {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(store.released.first == end)
            #expect(transport.asked.contains { $0.hasSuffix("/refresh") })
        }
    }

    @Test("ends its hold if its tokens are not written, as another host has signed in")
    func notWritten() async throws {
        let store = SharedStore()
        let numbers = Counter()
        let newer = Mutex<SessionRecord?>(nil)
        let transport = ScriptedTransport { request throws(TransportError) in
            if request.url.hasSuffix("/refresh") {
                let record = newer.withLock { $0 }
                store.written.withLock { $0 = record }
            }
            return ExampleProvider.json(
                200, #"{"token":"token-\#(numbers.next())","expires_in":1000,"user":{"id":"7"}}"#)
        }
        let example = try ExampleProvider(store: store, transport: transport)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(
                LoginStart(provider: "example", fields: SessionRegistryTests.fields, remember: true))
            let name = try #require(try await store.names().first?.session)
            while try await store.load(name) == nil { await Task.yield() }
            var other = try #require(try await store.load(name))
            other.signIn = try #require(SignInID("s2-1"))
            other.tokens.accessToken = Secret("of another host")
            let record = other
            newer.withLock { $0 = record }
            _ = try await sessions.refresh(SessionParams())
            while store.released.isEmpty {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(store.released == [.answered])
            #expect(try await sessions.token(TokenGet()).accessToken == "of another host")
        }
    }

    @Test("releases its hold even while the agent stops: no other host waits for a result", arguments: [true, false])
    func stopping(isSent: Bool) async throws {
        let (store, hold) = (SharedStore(), Hold())
        let error: TransportError =
            isSent
            ? .connectionLost(host: "api.example.com", reason: "the other side closed it")
            : .connectionRefused(host: "api.example.com")
        let example = try ExampleProvider.waiting(for: hold, store: store) { () throws(TransportError) in throw error }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let refreshed = Task { try? await sessions.refresh(SessionParams()) }
            await hold.isReached()
            let deadline = example.clock.now().boot + .seconds(5)
            let finish = Task { await sessions.registry.finish(until: deadline) }
            await example.clock.somebodySleeps(until: deadline)
            hold.release()
            await finish.value
            while store.released.isEmpty {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(store.released == [isSent ? .unanswered : .answered])
            _ = await refreshed.value
        }
    }

    @Test("accepts a response that arrived while the process was stopped, although its time limit has passed")
    func lateResponse() async throws {
        let (store, hold) = (SharedStore(), Hold())
        let example = try ExampleProvider.waiting(for: hold, store: store)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let refreshed = Task { try await sessions.refresh(SessionParams()) }
            await hold.isReached()
            await example.clock.somebodySleeps(until: example.clock.now().boot + LeaseMachine.requestLimit)
            example.clock.advance(LeaseMachine.requestLimit + .seconds(10))
            await example.clock.somebodySleeps(until: example.clock.now().boot + .seconds(1))
            hold.release()
            _ = try await refreshed.value
            #expect(try await sessions.token(TokenGet()).accessToken == "token-2")
        }
    }
}
