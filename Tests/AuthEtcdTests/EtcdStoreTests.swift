import AuthEtcd
import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

/// Besides what every store promises (`SessionStoreContract`).
@Suite("The store in etcd", .timeLimit(.minutes(2)))
struct EtcdStoreTests {
    private static let client = KeyPurpose.client(provider: "envelope")

    @Test("gives etcd nothing that has a token in it")
    func sealed() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await store.save(Secret("client-secret-1"), for: .client(provider: "envelope"))
                try await store.save(Secret("outbox-secret-1"), for: .outbox)
            }
            let seen = try await members.dump()
            #expect(seen.contains("/authd/ada/sessions/work") && seen.contains("app-template"))
            await members.end()
            let secrets = ["access-work", "refresh-work", "ada@example", "client-secret", "outbox-secret"]
            for secret in secrets { #expect(!seen.contains(secret)) }
            #expect(try await members.found(["/authd/ada/sessions/work"] + secrets) == ["/authd/ada/sessions/work"])
        }
    }

    @Test("keeps the key of an outbox on its host, and a registered client for all hosts")
    func keys() async throws {
        try await EtcdMembers.running { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            try await one.start(at: members.endpoints) { store in
                try await store.save(Secret("outbox"), for: .outbox)
                try await store.save(Secret("client"), for: Self.client)
                try await admit(two, by: store, at: members)
            }
            try await two.start(at: members.endpoints) { store in
                let (outbox, client) = (try await store.key(for: .outbox), try await store.key(for: Self.client))
                #expect(outbox == nil && client == Secret("client"))
            }
            try await one.start(at: members.endpoints) { store in
                let outbox = try await store.key(for: .outbox)
                #expect(outbox == Secret("outbox"))
            }
        }
    }

    @Test("reports what another host writes and removes")
    func changes() async throws {
        try await EtcdMembers.running { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            try await one.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints) { other in
                    #expect(await other.states().first { $0 == .ready } == .ready)
                    let name = try SessionName("work")
                    #expect(await other.changes().first { $0 == name } == name)
                    try await store.save(etcdSample(generation: 2))
                    #expect(await other.changes().first { $0 == name } == name)
                    #expect(try await other.load(name)?.generation == 2)
                    try await store.delete(name)
                    #expect(await other.changes().first { $0 == name } == name)
                    #expect(try await other.load(name) == nil)
                    #expect(try await !other.hasLost(name))
                }
            }
        }
    }

    @Test("never replaces what another host wrote in between")
    func comparesAndSwaps() async throws {
        try await EtcdMembers.running { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            try await one.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints, watches: false) { other in
                    let generations = 2...40 as ClosedRange<UInt64>
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for writer in [store, other] {
                            group.addTask {
                                for generation in generations {
                                    let record = try etcdSample(generation: generation)
                                    let stored = try await writer.update(record, replacesOther: false).stored
                                    #expect(stored.map { $0.generation > generation } ?? true)
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    #expect(try await store.load(SessionName("work"))?.generation == 40)
                }
            }
        }
    }

    @Test("says how large a record is that etcd does not accept, and keeps the former")
    func tooLarge() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                // 1.5 MiB is etcd's limit; the largest record below it is accepted.
                try await store.save(etcdSample("large", padding: 1_500_000))
                #expect(try await store.load(SessionName("large"))?.tokens.accessToken.count ?? 0 > 1_500_000)
                let large = try etcdSample(generation: 2, padding: 1_600_000)
                let fault = await store.fault { store throws(StoreError) in try await store.save(large) }
                guard case .tooLarge(let bytes, let limit) = fault else {
                    Issue.record("\(String(describing: fault))")
                    return
                }
                #expect(bytes > 1_600_000 && limit == 3 << 19)
                #expect(fault?.message.contains("--max-request-bytes") ?? false)
                #expect(try await store.load(SessionName("work"))?.generation == 1)
                // All of them, in as many requests as it takes.
                for index in 1...4 { try await store.save(etcdSample("large-\(index)", padding: 1_400_000)) }
                #expect(try await store.loadAll().count == 6)
            }
        }
    }

    @Test("reports a record under another name, a changed one and one of another prefix as damaged")
    func swapped() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                for name in ["a", "b", "c"] { try await store.save(etcdSample(name)) }
            }
            // As an administrator of etcd: the value of a under the name b, and a changed c.
            let value = try await members.control("get", "/authd/ada/sessions/a", "--print-value-only", "--hex")
            #expect(!value.isEmpty)
            try await members.copy("/authd/ada/sessions/a", to: "/authd/ada/sessions/b")
            try await members.control("put", "/authd/ada/sessions/c", "nothing of use")
            try await members.copy("/authd/ada/cluster", to: "/authd/eve/cluster")
            try await members.copy("/authd/ada/sessions/a", to: "/authd/eve/sessions/a")
            try await host.start(at: members.endpoints) { store in
                let all = try await store.loadAll()
                let damaged = all.compactMap { if case .damaged(let session, _) = $0 { session } else { nil } }
                #expect(damaged == ["b", "c"] && all.count == 3)
                // A sign-in replaces it.
                try await store.save(etcdSample("b", generation: 2))
                #expect(try await store.load(SessionName("b"))?.generation == 2)
            }
            var elsewhere = try EtcdHost("eve")
            elsewhere.prefix = "/authd/eve"
            try await elsewhere.start(at: members.endpoints) { store in
                #expect(await store.fault { store throws(StoreError) in _ = try await store.loadAll() } == .notAdmitted)
            }
        }
    }

    @Test("reports that somebody put an older record back")
    func replayed() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                let faults = store.faults()
                try await store.save(etcdSample())
                try await members.copy("/authd/ada/sessions/work", to: "/authd/ada/kept")
                try await store.save(etcdSample(generation: 2))
                try await members.copy("/authd/ada/kept", to: "/authd/ada/sessions/work")
                _ = try await store.load(SessionName("work"))
                #expect(await faults.first { $0 == .wentBack } == .wentBack)
            }
        }
    }
}

/// The user carries the code from one host to the other.
func admit(_ host: EtcdHost, by member: EtcdStore, at members: EtcdMembers) async throws {
    let code = try await host.start(at: members.endpoints, watches: false) { store in
        try await store.requestAdmission()
    }
    #expect(try await member.admit(code) == host.name)
}
