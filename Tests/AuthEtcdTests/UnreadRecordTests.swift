import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import Synchronization
import Testing

@testable import AuthEtcd

@Suite("A record of etcd that cannot be read at the moment", .timeLimit(.minutes(1)))
struct UnreadRecordTests {
    @Test("is not removed by a sign-out like a damaged one: it may be of a later sign-in")
    func signOut() async throws {
        let place = "/p/sessions/work"
        let sealed = try SealedBytes.seal(
            Secret("another key"), name: place, label: "template", generation: 1, key: .random())
        let entry = #"""
            {"header":{"cluster_id":"1","revision":"7"},"kvs":[{"key":"\#(
                Base64.encode(Array(place.utf8)))","mod_revision":"5","value":"\#(Base64.encode(sealed))"}]}
            """#
        let etcd = OneKey()
        let isSilent = Mutex(false)
        let removals = Mutex(0)
        let transport = ScriptedTransport { path, body throws(TransportError) in
            if path == "kv/range", body["key"]?.stringValue == Base64.encode(Array(place.utf8)) { return (200, entry) }
            guard isSilent.withLock({ $0 }) else { return try etcd.answer(path, body) }
            if path == "kv/txn" { removals.withLock { $0 += 1 } }
            throw .connectionLost(host: "one", reason: "it was reset")
        }
        let store = EtcdStore(
            .init(endpoints: ["http://one"], prefix: "/p", user: nil, hostName: "one"), local: MemoryLocal(),
            transport: transport, clock: HostClock(), pause: { _ in await Task.yield() })
        _ = try await store.opened()
        isSilent.withLock { $0 = true }
        let name = try SessionName("work")
        let fault = await store.fault { store throws(StoreError) in try await store.delete(name) }
        #expect(fault?.name == "cluster_unreachable" && removals.withLock { $0 } == 0)
    }
}
