import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@testable import AuthEtcd

@Suite("A hostile etcd", .timeLimit(.minutes(2)))
struct HostileEtcdTests {
    @Test(
        "ends each call with a fault, within its limit and without filling the memory",
        arguments: ["huge", "silent", "drip", "text", "html", "empty", "wrong", "redirect"])
    func answers(_ mode: String) async throws {
        let desktop = try await Desktop()
        try await Peer.running(.hostileEtcd, [mode], in: desktop) { peer in
            let host = try EtcdHost()
            try await host.start(at: [peer.url], watches: false) { store in
                // Several, for the answers of other types.
                for _ in 1...(mode == "wrong" ? 12 : 1) {
                    let record = try etcdSample()
                    let read = await store.fault { store throws(StoreError) in _ = try await store.loadAll() }
                    let written = await store.fault { store throws(StoreError) in try await store.save(record) }
                    for fault in [read, written] {
                        #expect(
                            ["cluster_invalid", "cluster_unreachable"].contains(fault?.name),
                            "\(mode): \(String(describing: fault))")
                    }
                }
            }
        }
        await desktop.end()
    }

    @Test("cannot fill the memory with one message of a watch")
    func watch() async throws {
        let desktop = try await Desktop()
        try await Peer.running(.hostileEtcd, ["huge-watch"], in: desktop) { peer in
            let transport = try EtcdHost()
            try await transport.start(at: [peer.url], watches: false) { store in
                #expect(
                    await store.client.watch("/p/", to: EtcdPlaces.end(of: "/p/"), from: 1) { _ in nil }
                        == .invalid(reason: "a message of a watch that is too long"))
            }
        }
        await desktop.end()
    }

    @Test(
        "cannot make an agent count beyond the largest number",
        arguments: [#""revision":"9223372036854775807""#, #""revision":"-1""#])
    func revisions(_ number: String) throws {
        let header = try JSON(parsing: "{\"header\":{\(number)}}")
        #expect(throws: ClusterFault.self) { try EtcdRange(header) }
        let entry = try JSON(parsing: "{\"header\":{},\"kvs\":[{\"key\":\"L2E=\",\"mod_\(number.dropFirst())}]}")
        #expect(throws: ClusterFault.self) { try EtcdRange(entry) }
        #expect(EtcdStatus(["raftIndex": "-1"]).index == nil)
    }

    @Test("cannot make an agent count beyond the largest number with a record, sealed with any key")
    func generations() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                let own = try await #require(store.opened().accepted.currentKeys.first)
                for (index, key) in [try SealingKey.random(), own].enumerated() {
                    let record = try etcdSample(generation: UInt64(index + 2))
                    let place = await store.places.session(record.session)
                    let sealed = try SealedBytes.seal(
                        try etcdSample().encoded(), name: place, label: "", generation: .max, key: key)
                    _ = try await store.call(.put(sealed, to: place, if: [], otherwiseReading: []))
                    try await store.save(record)
                    #expect(try await store.load(record.session) == record)
                    try await store.delete(record.session)
                }
            }
        }
    }
}
