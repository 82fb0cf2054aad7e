import AuthModel
import AuthWire
import EtcdTestSupport
import Synchronization
import TestSupport
import Testing

@testable import AuthEtcd

@Suite("A host that cannot reach etcd", .timeLimit(.minutes(1)))
struct OutageTests {
    private static let created = #"{"result":{"header":{"cluster_id":"1","revision":"7"},"created":true}}"#

    /// A clock that each pause advances.
    private struct PauseClock: SystemClock {
        let time = Shared()

        final class Shared: Sendable {
            let elapsed = Mutex(Duration.zero)
            let pauses = Mutex<[Duration]>([])
        }

        func now() -> Moment {
            Moment(boot: BootInstant(nanoseconds: 0) + time.elapsed.withLock { $0 }, wall: WallTime(unixSeconds: 0))
        }

        func sleep(until deadline: BootInstant) async throws {}

        func pause(_ duration: Duration) async throws {
            time.pauses.withLock { $0.append(duration) }
            time.elapsed.withLock { $0 += duration }
            await Task.yield()
            try Task.checkCancellation()
        }
    }

    private static func store(
        _ transport: ScriptedTransport, clock: any SystemClock,
        pause: @escaping @Sendable (Duration) async throws -> Void
    ) -> EtcdStore {
        EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: clock, pause: pause)
    }

    @Test("tries again every two seconds at least, and more rarely after five minutes")
    func pauses() async throws {
        let clock = PauseClock()
        let transport = ScriptedTransport { (_, _) throws(TransportError) in
            throw .connectionRefused(host: "one")
        }
        let store = Self.store(transport, clock: clock, pause: clock.pause)
        let isLong = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            defer { group.cancelAll() }
            return try await until { clock.time.elapsed.withLock { $0 } > .seconds(900) }
        }
        #expect(isLong)
        var time = Duration.zero
        var (early, late) = ([Duration](), [Duration]())
        for pause in clock.time.pauses.withLock({ $0 }) {
            if time < .seconds(300) { early.append(pause) } else { late.append(pause) }
            time += pause
        }
        #expect(early.allSatisfy { $0 <= .seconds(2) } && early.count < 400)
        #expect(late.contains { $0 > .seconds(14) } && late.allSatisfy { $0 <= .seconds(30) })
    }

    @Test("reads everything at once when a request is answered, or when the network changes", arguments: [true, false])
    func answered(byNetwork: Bool) async throws {
        let etcd = OneKey()
        let isDown = Mutex(true)
        let isPaused = Mutex(false)
        let watch = ScriptedTransport.Watch([Self.created], then: .stays)
        let transport = ScriptedTransport(watches: [watch]) { path, body throws(TransportError) in
            guard !isDown.withLock({ $0 }) else { throw .connectionRefused(host: "one") }
            return try etcd.answer(path, body)
        }
        // No pause ends by itself.
        let store = Self.store(transport, clock: HostClock()) { _ in
            isPaused.withLock { $0 = true }
            for await _ in AsyncStream<Void>.makeStream().stream {}
            try Task.checkCancellation()
        }
        let name = try SessionName("work")
        let isBack = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            defer { group.cancelAll() }
            let isPausing = try await until { await store.waitsForEtcd && isPaused.withLock { $0 } }
            let hadWatch = !transport.watchedHosts.isEmpty
            isDown.withLock { $0 = false }
            if byNetwork {
                await store.networkChanged(endsConnections: false)
            } else {
                _ = try? await store.load(name)
            }
            let hasWatch = try await until { transport.watchedHosts == ["one"] }
            let obstacle = await store.obstacle()
            return isPausing && !hadWatch && hasWatch && obstacle == nil
        }
        #expect(isBack)
    }

    @Test("begins its watch again when the network changes, or a check gets no answer", arguments: [true, false])
    func silentWatch(byNetwork: Bool) async throws {
        let etcd = OneKey()
        let isDown = Mutex(false)
        let watch = ScriptedTransport.Watch([Self.created], then: .stays)
        let transport = ScriptedTransport(watches: [watch, watch]) { path, body throws(TransportError) in
            guard !isDown.withLock({ $0 }) else { throw .connectionRefused(host: "one") }
            return try etcd.answer(path, body)
        }
        let (checks, check) = AsyncStream<Void>.makeStream()
        let store = Self.store(transport, clock: HostClock()) { duration in
            if duration == .seconds(30) { for await _ in checks { break } }
            await Task.yield()
            try Task.checkCancellation()
        }
        let isWatching = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            defer { group.cancelAll() }
            let isOpen = try await until { await store.isWatchOpen }
            if byNetwork {
                await store.networkChanged(endsConnections: true)
            } else {
                isDown.withLock { $0 = true }
                check.yield()
                let isNoticed = try await until { await store.obstacle() != nil }
                #expect(isNoticed)
                isDown.withLock { $0 = false }
            }
            let isAgain = try await until { transport.watchedHosts == ["one", "one"] }
            return isOpen && isAgain
        }
        #expect(isWatching)
    }

    @Test("ends calls that wait for the first answer together, not one after the other")
    func together() async throws {
        let transport = SilentTransport()
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: HostClock(), now: { [start = SuspendingClock.now] in start })
        let faults = try await withThrowingTaskGroup(of: ClusterFault?.self) { group in
            for _ in 1...5 {
                group.addTask { await store.faultOfOpening(countedBy: transport) }
            }
            #expect(try await until { transport.calls == 5 && transport.requests == 1 })
            // By then, each of them has been suspended once.
            _ = await store.view
            transport.refuse()
            var faults: [ClusterFault?] = []
            for try await fault in group { faults.append(fault) }
            return faults
        }
        #expect(faults.count == 5 && faults.allSatisfy { $0?.name == "cluster_unreachable" })
        #expect(transport.requests == 1)
    }
}

/// Does not respond until the test refuses all requests.
private final class SilentTransport: HTTPLiveTransport {
    private let counts = Mutex((calls: 0, requests: 0))
    private let (gate, opening) = AsyncStream<Void>.makeStream()

    /// How often the store was called.
    var calls: Int { counts.withLock { $0.calls } }
    var requests: Int { counts.withLock { $0.requests } }

    func noteCall() { counts.withLock { $0.calls += 1 } }

    func refuse() { opening.finish() }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        counts.withLock { $0.requests += 1 }
        for await _ in gate {}
        throw .connectionRefused(host: "one")
    }

    func stream(
        _ request: HTTPRequest, limit: Duration, to receiver: any HTTPLiveReceiver
    ) async throws(TransportError) { throw .connectionRefused(host: "one") }

    func closeIdleConnections() async {}
}

extension EtcdStore {
    /// - Parameter transport: counts the call before that waits for anything.
    fileprivate func faultOfOpening(countedBy transport: SilentTransport) async -> ClusterFault? {
        transport.noteCall()
        do throws(StoreError) {
            _ = try await opened()
            return nil
        } catch {
            if case .cluster(let fault) = error { return fault }
            return nil
        }
    }
}
