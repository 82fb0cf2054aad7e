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
        var ring = EndpointRing(Self.endpoints, first: 4)
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
        #expect(EndpointRing([], first: 4).current == nil && EndpointRing([]).left == nil)
    }

    @Test("is the same at each start, and differs between hosts and users")
    func choice() {
        #expect(EndpointRing.choice(of: "login-1/authd/ada") == EndpointRing.choice(of: "login-1/authd/ada"))
        for names in [(1...300).map { "runner-\($0)/authd/ci" }, (1...300).map { "login-1/authd/\($0)" }] {
            var hosts = [0, 0, 0]
            for name in names { hosts[Int(EndpointRing.choice(of: name) % 3)] += 1 }
            #expect(hosts.allSatisfy { $0 > 70 }, "\(hosts)")
        }
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
