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
    /// Holds the thread of the next session event, once it is closed.
    private final class Gate: Sendable {
        private let isClosed = Atomic(false)
        private let reached = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        func close() { isClosed.store(true, ordering: .relaxed) }

        func pass(_ event: AgentEvent) {
            guard event.session != nil, isClosed.exchange(false, ordering: .relaxed) else { return }
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

    private struct Still: NetworkWatch {
        func readings() -> AsyncStream<NetworkReading> { AsyncStream { $0.yield(NetworkReading(reach: .internet)) } }
    }

    @Test("there is no watchdog notification while the actor of a session is blocked, and one again afterwards")
    func blocked() async throws {
        let (gate, clock, store, name) = (Gate(), BootClock(), MemoryStore(), try SessionName("shop"))
        let now = clock.now().wall
        try await store.save(
            SessionRecord(
                session: name, provider: "shop", environment: "production", method: "password",
                tokens: TokenSet(accessToken: Secret("token"), issuedAt: now, expiresAt: now + .seconds(3600)),
                user: nil, rawUser: nil, signedInAt: now))
        let context = AgentContext(
            storeKind: store.kind, transport: Nowhere(), clock: clock, network: Still(), catalog: ProfileCatalog(),
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
                for await _ in starts { _ = try await sessions.logout(SessionLogout(session: name, revoke: false)) }
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
