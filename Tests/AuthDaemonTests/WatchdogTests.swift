import AuthAgent
import AuthDaemon
import AuthModel
import AuthWire
import Dispatch
import Synchronization
import TestSupport
import Testing

@Suite("The watchdog", .timeLimit(.minutes(1)))
struct WatchdogTests {
    /// Holds the thread of the next event of this topic, once it is closed.
    private final class Gate: Sendable {
        private let topic: Topic
        private let isClosed = Atomic(false)
        private let reached = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        init(_ topic: Topic) { self.topic = topic }

        func close() { isClosed.store(true, ordering: .relaxed) }

        func pass(_ event: AgentEvent) {
            guard event.topic == topic, isClosed.exchange(false, ordering: .relaxed) else { return }
            reached.signal()
            opened.wait()
        }

        func waitUntilReached() { reached.wait() }
        func open() { opened.signal() }
    }

    private struct Nowhere: HTTPTransport {
        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            throw .offline(reason: "none")
        }
        func closeIdleConnections() async {}
    }

    private struct Network: NetworkWatch {
        let source: AsyncStream<NetworkReading>
        func readings() -> AsyncStream<NetworkReading> { source }
    }

    @Test(
        "no watchdog notification is sent while the actor of a session or of the network is blocked",
        arguments: [Topic.session, .network])
    func blocked(topic: Topic) async throws {
        let (gate, clock, store, name) = (Gate(topic), BootClock(), MemoryStore(), try SessionName("shop"))
        let (readings, network) = AsyncStream.makeStream(of: NetworkReading.self)
        network.yield(NetworkReading(reach: .internet))
        let now = clock.now().wall
        try await store.save(
            SessionRecord(
                session: name, provider: "shop", environment: "production", method: "password",
                tokens: TokenSet(accessToken: Secret("token"), issuedAt: now, expiresAt: now + .seconds(3600)),
                user: nil, rawUser: nil, signedInAt: now))
        let context = AgentContext(
            storeKind: store.kind, transport: Nowhere(), clock: clock, network: Network(source: readings),
            catalog: ProfileCatalog(),
            publish: gate.pass)
        let storage = SessionStorage(store: store)
        let registry = SessionRegistry(context: context, storage: storage, seed: 1)
        let loader = SessionLoader(context: context, registry: registry, storage: storage, seed: 1)
        let sessions = SessionRequests(context: context, registry: registry, storage: storage)

        let (time, signs) = (ManualTime(), SignCounter())
        let executor = try SocketExecutor(time: { time.now })
        let watchdog = Watchdog(
            executor: executor, interval: .seconds(30), notifier: ServiceNotifier { _ in signs.add() },
            checks: [registry.answers])
        @Sendable func beat() {
            time.pass(.seconds(10))
            let done = DispatchSemaphore(value: 0)
            // The timers that are due run before the second one.
            executor.perform { executor.perform { done.signal() } }
            done.wait()
        }
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await loader.run() }
            tasks.addTask { try await watchdog.run() }
            await loader.ready()
            tasks.addTask {
                for await _ in starts {
                    guard topic == .session else {
                        network.yield(NetworkReading(reach: .offline))
                        continue
                    }
                    _ = try await sessions.logout(SessionLogout(session: name, revoke: false))
                }
            }
            try await onThread {
                while signs.count < 3 { beat() }
                gate.close()
                start.yield()
                gate.waitUntilReached()
                // The check of the last beat may have been answered before, and its notification may come late.
                let most = signs.count + 1
                for _ in 1...20 { beat() }
                #expect(signs.count <= most)
                let before = signs.count
                gate.open()
                while signs.count == before { beat() }
            }
            tasks.cancelAll()
        }
        await executor.stop()
    }

    private final class SignCounter: Sendable {
        private let value = Atomic(0)

        var count: Int { value.load(ordering: .sequentiallyConsistent) }
        func add() { value.add(1, ordering: .sequentiallyConsistent) }
    }
}
