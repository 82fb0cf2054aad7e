import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import Foundation
import TestSupport
import Testing

@testable import AuthEtcd

@Suite("The state of a cluster", .timeLimit(.minutes(2)))
struct ClusterStatusTests {
    enum Programs: String, CaseIterable {
        case debian, etcd35

        func options(count: Int = 1) throws -> EtcdMembers.Options {
            var options = EtcdMembers.Options()
            options.count = count
            if self == .etcd35 { options.programs = try .pypi() }
            return options
        }
    }

    /// A host that reports itself several times a second.
    private func host(_ name: String) throws -> EtcdHost {
        var host = try EtcdHost(name)
        host.checkInterval = .milliseconds(100)
        // These members grant none below a second.
        (host.presence.lease, host.presence.sign) = (.seconds(2), .milliseconds(200))
        return host
    }

    private func waits(until connected: [Bool?], in store: EtcdStore) async throws {
        #expect(try await until { try await store.status().hosts.map(\.isConnected) == connected })
    }

    @Test("has each host with its version, and one that has gone stays there", arguments: Programs.allCases)
    func hosts(programs: Programs) async throws {
        try await EtcdMembers.running(programs.options()) { members in
            let (one, two) = (try host("one"), try host("two"))
            // It never runs after it was admitted, as with an authd that reports nothing.
            let three = try host("three")
            try await one.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                try await admit(three, by: store, at: members)
                let before = Date().timeIntervalSince1970
                try await two.start(at: members.endpoints) { other in
                    try await waits(until: [true, true, false], in: store)
                    let isThis = try await other.status().hosts.map(\.isThis)
                    #expect(isThis == [false, true, false])
                }
                // The lease ends, and the report stays.
                try await waits(until: [true, false, false], in: store)
                let hosts = try await store.status().hosts
                #expect(hosts.map(\.name) == ["one", "two", "three"])
                #expect(hosts.map(\.version) == [Release.version, Release.version, nil])
                let seenAt = try #require(hosts[1].seenAt)
                #expect(seenAt >= before - 1 && seenAt <= Date().timeIntervalSince1970 && hosts[2].seenAt == nil)
                // It is there again.
                try await two.start(at: members.endpoints) { _ in
                    try await waits(until: [true, true, false], in: store)
                }
                // A host that is removed takes its report with it.
                let member = try #require(try await store.members().first { $0.name == "two" })
                try await store.remove(member)
                #expect(try await store.status().hosts.map(\.name) == ["one", "three"])
                // Until the sessions are renewed.
                #expect(try await store.isRekeying())
                try await store.endKeyChange()
                #expect(try await !store.isRekeying())
                #expect(try await !members.dump("/authd/ada/status/").contains(member.id))
            }
        }
    }

    @Test("names the host that renews a session, as long as it does", arguments: Programs.allCases)
    func renewals(programs: Programs) async throws {
        try await EtcdMembers.running(programs.options()) { members in
            let (one, two) = (try host("one"), try host("two"))
            try await one.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints) { other in
                    let name = try SessionName("work")
                    #expect(try await store.status().renewals.isEmpty)
                    let lease = try await other.grantLease()
                    _ = try await other.hold(name, for: etcdSample().version, under: lease.id)
                    let renewal = try #require(try await store.status().renewals.first)
                    let renewing = try await store.members().first { $0.name == "two" }
                    #expect(renewal.session == name && renewal.host == renewing?.id && renewal.host != nil)
                    // That of an authd that does not say who it is.
                    try await members.control("put", "/authd/ada/holders/old", "")
                    let old = try await store.status().renewals.first { $0.session.text == "old" }
                    #expect(old != nil && old?.host == nil)
                    try await members.control("del", "/authd/ada/holders/old")
                    try await other.release(name, leaving: .answered)
                    #expect(try await store.status().renewals.isEmpty)
                }
            }
        }
    }

    @Test("has each member of etcd, even without a majority", arguments: Programs.allCases)
    func members(programs: Programs) async throws {
        try await EtcdMembers.running(programs.options(count: 3)) { members in
            try await host("one").start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                let status = try await store.status()
                #expect(status.cause == nil && status.voters == 3)
                #expect(status.etcd.map(\.endpoint) == members.endpoints)
                #expect(status.etcd.map(\.state) == [.ready, .ready, .ready])
                #expect(status.etcd.map(\.name) == ["m0", "m1", "m2"])
                #expect(status.etcd.count { $0.isLeader } == 1)
                for member in status.etcd {
                    let (version, term, index) = (member.version ?? "", member.term ?? 0, member.index ?? 0)
                    #expect(version.hasPrefix(programs == .debian ? "3.4" : "3.5") && term > 0 && index > 0)
                    #expect(member.bytes ?? 0 > 0 && member.behind ?? 1000 < 1000)
                }
                // A member that hangs holds nobody up, even if it is the one in use.
                members.signal(SIGSTOP, 0)
                #expect(
                    try await until {
                        let status = try await store.status()
                        return status.etcd.map(\.state) == [.notAnswering, .ready, .ready] && status.cause == nil
                            && status.voters == 3
                    })
                await members.kill(1)
                #expect(
                    try await until {
                        try await store.status().etcd.map(\.state) == [.notAnswering, .notAnswering, .noLeader]
                    })
                let lost = try await store.status()
                #expect(lost.cause == "cluster_no_quorum" && lost.message?.contains("majority") == true)
                #expect(lost.hosts.map(\.name) == ["one"] && lost.hosts[0].isConnected == nil)
                members.signal(SIGCONT, 0)
                #expect(try await until { try await store.status().cause == nil })
            }
        }
    }

    @Test("has the alarm of a member that is out of space", arguments: Programs.allCases)
    func alarm(programs: Programs) async throws {
        var options = try programs.options()
        options.quota = 2 << 20
        try await EtcdMembers.running(options) { members in
            try await host("one").start(at: members.endpoints) { store in
                var fault: ClusterFault?
                for index in 1...40 where fault == nil {
                    let record = try etcdSample("large", generation: UInt64(index), padding: 300_000)
                    fault = await store.fault { store throws(StoreError) in try await store.save(record) }
                }
                #expect(fault == .noSpace)
                let status = try await store.status()
                #expect(status.etcd.map(\.alarms) == [["NOSPACE"]] && status.cause == "cluster_no_space")
            }
        }
    }

    @Test("counts what this agent has not processed, and not what others do on the same etcd")
    func lag() async throws {
        try await EtcdMembers.running { members in
            let host = try host("one")
            try await host.start(at: members.endpoints, watches: false) { store in
                for name in ["a", "b", "c"] { try await store.save(etcdSample(name)) }
                // Three sessions and the cluster, at least.
                #expect(try await store.status().unprocessed ?? 0 >= 4)
            }
            try await host.start(at: members.endpoints) { store in
                #expect(await store.states().first { $0 == .ready } == .ready)
                #expect(try await until { try await store.status().unprocessed == 0 })
                try await store.save(etcdSample("a", generation: 2))
                #expect(try await store.status().unprocessed == 0)
                for index in 1...5 { try await members.control("put", "/authd/grace/x", "\(index)") }
                let status = try await store.status()
                #expect(status.unprocessed == 0)
                let (revision, processed) = (try #require(status.revision), try #require(status.processedRevision))
                #expect(revision >= processed + 5)
            }
        }
    }

    @Test("says so if the removal of a host was interrupted, and a new key ends it", arguments: Programs.allCases)
    func interrupted(programs: Programs) async throws {
        try await EtcdMembers.running(programs.options()) { members in
            let user = EtcdUser(name: "ada", password: { () throws(StoreError) in Secret("password-1") })
            var (one, two, three) = (try host("one"), try host("two"), try host("three"))
            (one.user, two.user, three.user) = (user, user, user)
            try await members.requireUsers("ada", password: "password-1", prefix: "/authd/ada/")
            func grant(_ access: String, _ place: String, _ more: String...) async throws {
                try await members.control(
                    ["role", "grant-permission", "sessions"] + more + [access, place], user: "root:root")
            }
            try await one.start(at: members.endpoints) { store in
                try await store.save(etcdSample("a"))
                try await store.save(etcdSample("b"))
                try await admit(two, by: store, at: members)
                try await admit(three, by: store, at: members)
                // It knows then that it was admitted, and by whom.
                _ = try await three.start(at: members.endpoints, watches: false) { try await $0.members() }
                #expect(try await !store.status().isRekeying)
                // The new key is written, and no record can be sealed with it.
                try await grant("read", "/authd/ada/", "--prefix=true")
                try await grant("readwrite", "/authd/ada/cluster")
                let removed = try #require(try await store.members().first { $0.name == "two" })
                let fault = await store.fault { store throws(StoreError) in try await store.remove(removed) }
                #expect(fault?.name == "cluster_denied")
                #expect(try await store.isRekeying())
                #expect(try await store.status().hosts.map(\.name) == ["one", "three"])
                #expect(try await store.outdated() == 2)
                try await grant("readwrite", "/authd/ada/", "--prefix=true")
                try await three.start(at: members.endpoints) { other in
                    // Nothing is lost meanwhile.
                    #expect(try await other.load(SessionName("a"))?.generation == 1)
                    #expect(try await until { try await other.status().isRekeying })
                    try await store.rekey(.sameOutside, current: nil)
                    #expect(try await store.outdated() == 0)
                    // It may have been a removal, so the sessions are renewed first.
                    #expect(try await store.isRekeying())
                    try await other.endKeyChange()
                    #expect(try await store.isRekeying())
                    try await store.endKeyChange()
                    #expect(try await !store.status().isRekeying)
                    #expect(try await until { try await !other.status().isRekeying })
                    #expect(try await other.load(SessionName("b"))?.generation == 1)
                }
                try await two.start(at: members.endpoints, watches: false) { other in
                    let name = try SessionName("a")
                    let fault = await other.fault { store throws(StoreError) in _ = try await store.load(name) }
                    #expect(fault == .notAdmitted)
                }
            }
        }
    }

    @Test("stays ready with a record that cannot be read, which is named once it is read")
    func damaged() async throws {
        try await EtcdMembers.running { members in
            try await host("one").start(at: members.endpoints) { store in
                try await store.save(etcdSample("good"))
                try await store.save(etcdSample("bad"))
                let (good, bad) = (try SessionName("good"), try SessionName("bad"))
                let (changes, faults) = (store.changes(), store.faults())
                #expect(await store.states().first { $0 == .ready } == .ready)
                try await members.control("put", "/authd/ada/sessions/bad", "garbage")
                #expect(await changes.first { $0 == bad } == bad)
                for _ in 1...3 {
                    await #expect(throws: StoreError.self) { _ = try await store.load(bad) }
                    // The one at that moment.
                    #expect(await store.states().first { _ in true } == .ready)
                    #expect(try await store.load(good)?.generation == 1)
                }
                let named = await faults.first { if case .damaged = $0 { true } else { false } }
                guard case .damaged(let session, _) = named else { throw Failure("\(String(describing: named))") }
                #expect(session == bad && named?.name == "cluster_record_damaged")
                #expect(await store.obstacle() == nil)
                // A sign-in replaces it.
                try await store.save(etcdSample("bad", generation: 2))
                #expect(try await store.load(bad)?.generation == 2)
            }
        }
    }
}

extension EtcdStore {
    /// How many sessions are not sealed with the newest key.
    fileprivate func outdated() async throws -> Int {
        let newest = try await opened().accepted.currentKeys.first?.id
        return try await read(below: places.sessions).count { try SealedBytes.header(of: $0.value).keyID != newest }
    }
}
