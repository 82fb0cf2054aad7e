import AuthModel
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
                    await store.client.watch("/p/", to: EtcdPlaces.end(of: "/p/"), from: 1) { _ in }
                        == .invalid(reason: "a message of a watch that is too long"))
            }
        }
        await desktop.end()
    }
}
