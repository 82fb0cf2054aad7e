import AuthModel
import AuthWire
import EtcdTestSupport
import Synchronization
import TestSupport
import Testing

@testable import AuthEtcd

@Suite("A record that other hosts change all the time", .timeLimit(.minutes(1)))
struct ContendedWriteTests {
    private static let header = #""header":{"cluster_id":"1","member_id":"1","revision":"7"}"#
    private static let session = Base64.encode(Array("/p/sessions/work".utf8))

    /// An etcd in which another host changes the session before each write, a number of times.
    private func transport(losing losses: Int, _ attempts: Counter) -> ScriptedTransport {
        let etcd = OneKey()
        return ScriptedTransport { (path, body) throws(TransportError) in
            if path == "lease/grant" { return (200, "{\(Self.header),\"ID\":\"5\",\"TTL\":\"3600\"}") }
            let put = body["success"]?[0]?["request_put"]
            guard path == "kv/txn", put?["key"]?.stringValue == Self.session else {
                return try etcd.answer(path, body)
            }
            let number = attempts.next()
            guard number <= losses else { return (200, "{\(Self.header),\"succeeded\":true}") }
            let other = "{\"key\":\"\(Self.session)\",\"mod_revision\":\"\(100 + number)\",\"value\":\"AAAA\"}"
            return (200, "{\(Self.header),\"responses\":[{\"response_range\":{\"kvs\":[\(other)]}}]}")
        }
    }

    private func store(_ transport: ScriptedTransport) -> EtcdStore {
        EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: HostClock(), pause: { _ in await Task.yield() })
    }

    @Test("is written at the last attempt")
    func last() async throws {
        let attempts = Counter()
        let store = store(transport(losing: EtcdLimits.writeAttempts - 1, attempts))
        try await store.save(etcdSample())
        #expect(attempts.count == EtcdLimits.writeAttempts)
    }

    @Test("fails with a name after the last attempt, and the store has no fault")
    func contended() async throws {
        let attempts = Counter()
        let store = store(transport(losing: .max, attempts))
        let faults = store.faults()
        let record = try etcdSample()
        let fault = await store.fault { store throws(StoreError) in try await store.save(record) }
        #expect(fault == .contended && fault?.name == "cluster_contended")
        #expect(attempts.count == EtcdLimits.writeAttempts)
        #expect(await faults.first { $0 == .contended } == .contended)
        #expect(await store.obstacle() == nil)
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func next() -> Int {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}
