import AuthModel
import AuthWire
import EtcdTestSupport
import Synchronization
import Testing

@testable import AuthEtcd

@Suite("A session that another host signs out of after this one has read it", .timeLimit(.minutes(1)))
struct SignedOutDuringWriteTests {
    private static let header = #""header":{"cluster_id":"1","revision":"7"}"#

    /// If it did, the newer tokens would not be revoked.
    @Test("does not count as written")
    func update() async throws {
        let place = Base64.encode(Array("/p/sessions/work".utf8))
        let etcd = OneKey()
        let stored = Mutex<String?>(nil)
        let refusals = Mutex(0)
        let transport = ScriptedTransport { path, body throws(TransportError) in
            if path == "lease/grant" { return (200, "{\(Self.header),\"ID\":\"5\",\"TTL\":\"60\"}") }
            let found = stored.withLock { $0 }
            if path == "kv/range", body["key"]?.stringValue == place, let found {
                let entry = "{\"key\":\"\(place)\",\"mod_revision\":\"7\",\"value\":\"\(found)\"}"
                return (200, "{\(Self.header),\"kvs\":[\(entry)]}")
            }
            let put = body["success"]?[0]?["request_put"]
            if path == "kv/txn", put?["key"]?.stringValue == place {
                guard found == nil else {
                    // The record is gone.
                    refusals.withLock { $0 += 1 }
                    return (200, "{\(Self.header)}")
                }
                stored.withLock { $0 = put?["value"]?.stringValue }
            }
            return try etcd.answer(path, body)
        }
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: HostClock(), pause: { _ in await Task.yield() })
        try await store.save(etcdSample())
        let renewed = try etcdSample(generation: 2)
        let fault = await store.fault { store throws(StoreError) in
            _ = try await store.update(renewed, replacesOther: false)
        }
        #expect(fault == .removed && refusals.withLock { $0 } == 1)
    }
}
