import AuthEtcd
import AuthModel
import AuthWire
import EtcdTestSupport
import Foundation
import TestSupport
import Testing

@Suite("A watch through a proxy", .timeLimit(.minutes(2)))
struct ProxiedWatchTests {
    /// The `location` of the page, which ends a silent response after half a second.
    private func location(to member: String) throws -> String {
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Docs/cluster.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let block = try #require(text.split(separator: "```nginx\n").dropFirst().first?.split(separator: "```").first)
        return String(block).replacing("https://etcd-1.example.org:2379", with: member)
            .replacing(/proxy_read_timeout .*;/, with: "proxy_read_timeout 500ms;")
    }

    @Test("begins again each time that the proxy ends it, and loses no change")
    func ended() async throws {
        let desktop = try await Desktop()
        let result: Result<Void, any Error>
        do {
            try await EtcdMembers.running { members in
                let server = "server { listen LISTEN; \(try location(to: members.endpoints[0])) }"
                try await Nginx.running(server, in: desktop) { nginx in try await play(nginx, members) }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await desktop.end()
        try result.get()
    }

    private func play(_ nginx: Nginx, _ members: EtcdMembers) async throws {
        let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
        let name = try SessionName("work")
        try await one.start(at: members.endpoints) { store in
            try await store.save(etcdSample())
            try await admit(two, by: store, at: members)
            try await two.start(at: ["http://127.0.0.1:\(nginx.port)"]) { other in
                let (changes, faults) = (other.changes(), other.faults())
                #expect(try await other.load(name)?.generation == 1)
                for generation in 2...5 as ClosedRange<UInt64> {
                    #expect(await faults.first { $0.name == "cluster_watch_lost" } != nil)
                    try await store.save(etcdSample(generation: generation))
                    #expect(await changes.first { $0 == name } == name)
                    #expect(try await other.load(name)?.generation == generation)
                }
                #expect(await other.obstacle() == nil)
            }
        }
        let watches = try nginx.requests().filter { $0.contains("POST /v3/watch 200") }
        #expect(watches.count >= 4, "\(watches)")
    }
}
