import AuthModel
import AuthWire
import EtcdTestSupport
import Synchronization
import Testing

@testable import AuthEtcd

@Suite("The member of etcd that a host uses", .timeLimit(.minutes(1)))
struct EndpointRingTests {
    private static let endpoints = ["http://one", "http://two", "http://three"]

    @Test("is the one of its choice, and the next one after each failure of the one in use")
    func failures() {
        var ring = EndpointRing(Self.endpoints)
        ring.prefer(4)
        #expect(ring.current == "http://two" && ring.left == nil)
        ring.failed("http://one")
        #expect(ring.current == "http://two")
        ring.failed("http://two")
        ring.failed("http://two")
        #expect(ring.current == "http://three" && ring.left == "http://two")
        ring.failed("http://three")
        #expect(ring.current == "http://one")
        ring.goBack()
        #expect(ring.current == "http://two" && ring.left == nil)
        ring = EndpointRing([])
        ring.prefer(4)
        #expect(ring.current == nil && ring.left == nil)
    }

    @Test("is the one of a later choice at once, but after a failure only when the host returns to its choice")
    func lateChoice() {
        var ring = EndpointRing(Self.endpoints)
        ring.failed("http://one")
        ring.prefer(2)
        #expect(ring.current == "http://two" && ring.left == "http://three")
        ring.goBack()
        #expect(ring.current == "http://three" && ring.left == nil)
        ring.prefer(0)
        #expect(ring.current == "http://one")
    }

    @Test("is the same for the same text, and differs between texts")
    func choice() throws {
        #expect(EndpointRing.choice(of: "1f0c6f0a") == EndpointRing.choice(of: "1f0c6f0a"))
        let keys = try (1...300).map { _ in try HostKey.random().id }
        for texts in [(1...300).map { "runner-\($0)" }, keys] {
            var hosts = [0, 0, 0]
            for text in texts { hosts[Int(EndpointRing.choice(of: text) % 3)] += 1 }
            // With random keys, that is false once in 10^9 runs.
            #expect(hosts.allSatisfy { $0 > 50 }, "\(hosts)")
        }
    }

    /// A host that chooses its member of an etcd without content.
    private static func spreading(_ local: MemoryLocal) -> (EtcdStore, ScriptedTransport) {
        var configuration = EtcdStore.Configuration(
            endpoints: endpoints, prefix: "/p", user: nil, hostName: "runner")
        configuration.spreads = true
        let etcd = OneKey()
        let transport = ScriptedTransport { path, body throws(TransportError) in try etcd.answer(path, body) }
        return (EtcdStore(configuration, local: local, transport: transport, clock: HostClock()), transport)
    }

    @Test("is chosen by its own key, so that hosts of the same name use different ones, and the same one after a start")
    func hosts() async throws {
        var used: Set<String> = []
        for _ in 1...60 {
            let local = MemoryLocal()
            var places: [String] = []
            for _ in 1...2 {
                let (store, transport) = Self.spreading(local)
                _ = try await store.opened()
                #expect(Set(transport.askedHosts).count == 1)
                places += Set(transport.askedHosts)
            }
            #expect(places.count == 2 && places[0] == places[1])
            used.formUnion(places)
        }
        // With random keys, that is false once in 10^10 runs.
        #expect(used.count == 3, "\(used)")
    }

    @Test("is not chosen, and no key is created, if a user only asks for the state of the cluster")
    func question() async throws {
        for _ in 1...20 {
            let local = MemoryLocal()
            let (store, _) = Self.spreading(local)
            #expect(try await store.status().hosts.isEmpty)
            #expect(try await local.key(for: .host) == nil)
            let used = await store.client.endpoint
            #expect(used == Self.endpoints.first)
            _ = try await store.opened()
            #expect(try await local.key(for: .host) != nil)
        }
    }

    @Test(
        "is the next one after a response that is not etcd's",
        arguments: [(404, "Not Found"), (500, #"{"code":13,"message":"internal"}"#), (200, "<html>")])
    func faulty(status: Int, body: String) async throws {
        let etcd = OneKey()
        let transport = ScriptedTransport(ofHosts: { (host, path, request) throws(TransportError) in
            host == "one" ? (status, body) : try etcd.answer(path, request)
        })
        let client = EtcdClient(
            endpoints: Self.endpoints, user: nil, transport: transport, note: { _ in }, pause: { _ in }, now: { .now })
        for _ in 1...2 { _ = try await client.call(.range("/p/cluster")) }
        #expect(transport.askedHosts == ["one", "two", "two"])
        let alone = EtcdClient(
            endpoints: ["http://one"], user: nil, transport: transport, note: { _ in }, pause: { _ in }, now: { .now })
        let fault = await #expect(throws: ClusterFault.self) { _ = try await alone.call(.range("/p/cluster")) }
        #expect(fault?.name == "cluster_unreachable")
    }

    @Test("is the one of its choice again some time after the last failure, if that has a leader")
    func back() async throws {
        let passed = Passed()
        let hasLeader = Mutex(false)
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            (200, hasLeader.withLock { $0 } ? #"{"leader":"1"}"# : "{}")
        }
        let start = SuspendingClock.now
        let client = EtcdClient(
            endpoints: Self.endpoints, user: nil, transport: transport, note: { _ in }, pause: { _ in },
            now: { start + passed.time })
        await client.goBack()
        client.failed("http://one")
        for (time, isThere) in [(Duration.seconds(599), true), (.seconds(600), false)] {
            passed.set(time)
            hasLeader.withLock { $0 = isThere }
            await client.goBack()
            #expect(client.endpoint == "http://two")
        }
        hasLeader.withLock { $0 = true }
        await client.goBack()
        #expect(client.endpoint == "http://one" && transport.askedHosts == ["one", "one"])
    }
}

/// The time that has passed in a test.
private final class Passed: Sendable {
    private let value = Mutex(Duration.zero)

    var time: Duration { value.withLock { $0 } }

    func set(_ time: Duration) { value.withLock { $0 = time } }
}
