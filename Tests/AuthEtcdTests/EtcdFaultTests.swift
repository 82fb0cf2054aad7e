import AuthModel
import AuthWire
import EtcdTestSupport
import Foundation
import TestSupport
import Testing

@testable import AuthEtcd

/// Each fault of etcd has a name, and ends when its cause does.
@Suite("Faults of etcd", .timeLimit(.minutes(1)))
struct EtcdFaultTests {
    @Test("are reported when no member can be reached, and end by themselves")
    func unreachable() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                let (states, faults) = (store.states(), store.faults())
                try await store.save(etcdSample())
                #expect(await states.first { $0 == .ready } == .ready)
                await members.kill(0)
                let record = try etcdSample(generation: 2)
                let fault = await store.fault { store throws(StoreError) in try await store.save(record) }
                #expect(fault?.name == "cluster_unreachable")
                #expect(await faults.first { $0.name == "cluster_unreachable" } != nil)
                #expect(await states.first { $0 == .notAnswering } == .notAnswering)
                #expect(await store.obstacle()?.name == "cluster_unreachable")
                try await members.start(0)
                // The store finds out by itself.
                #expect(await states.first { $0 == .ready } == .ready)
                #expect(await store.obstacle() == nil)
                try await store.save(record)
            }
        }
    }

    @Test("are survived by the other members, and a lost majority is reported until it is back")
    func quorum() async throws {
        var options = EtcdMembers.Options()
        options.count = 3
        try await EtcdMembers.running(options) { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                let (states, faults) = (store.states(), store.faults())
                try await store.save(etcdSample())
                // The member that the store uses.
                await members.kill(0)
                try await store.save(etcdSample(generation: 2))
                #expect(try await store.load(SessionName("work"))?.generation == 2)
                await members.kill(1)
                let record = try etcdSample(generation: 3)
                let fault = await store.fault { store throws(StoreError) in try await store.save(record) }
                #expect(fault == .noQuorum)
                #expect(await faults.first { $0 == .noQuorum } == .noQuorum)
                #expect(await states.first { $0 == .notAnswering } == .notAnswering)
                try await members.start(0)
                #expect(await states.first { $0 == .ready } == .ready)
                try await store.save(record)
                #expect(try await store.load(SessionName("work"))?.generation == 3)
            }
        }
    }

    @Test("do not hide a change from a host whose member hangs")
    func hangs() async throws {
        var options = EtcdMembers.Options()
        options.count = 3
        try await EtcdMembers.running(options) { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            try await one.start(at: Array(members.endpoints.reversed())) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                var watching = two
                watching.checkInterval = .milliseconds(200)
                try await watching.start(at: members.endpoints) { other in
                    let (changes, faults) = (other.changes(), other.faults())
                    let name = try SessionName("work")
                    #expect(await changes.first { $0 == name } == name)
                    // Seen by the watch.
                    try await store.save(etcdSample(generation: 2))
                    #expect(await changes.first { $0 == name } == name)
                    members.signal(SIGSTOP, 0)
                    // Until the others have noticed that it was the leader, if it was.
                    let isWritten = try await until {
                        let record = try etcdSample(generation: 3)
                        return await store.fault { store throws(StoreError) in try await store.save(record) } == nil
                    }
                    #expect(isWritten)
                    #expect(await changes.first { $0 == name } == name)
                    #expect(await faults.first { $0 == .lagging } == .lagging)
                    #expect(try await other.load(name)?.generation == 3)
                }
            }
        }
    }

    @Test("leave everything readable while there is no space, and writing continues when there is")
    func noSpace() async throws {
        var options = EtcdMembers.Options()
        options.quota = 2 << 20
        try await EtcdMembers.running(options) { members in
            var host = try EtcdHost()
            host.checkInterval = .milliseconds(200)
            try await host.start(at: members.endpoints) { store in
                let (states, faults) = (store.states(), store.faults())
                try await store.save(etcdSample())
                var fault: ClusterFault?
                for index in 1...40 where fault == nil {
                    let record = try etcdSample("large", generation: UInt64(index), padding: 300_000)
                    fault = await store.fault { store throws(StoreError) in try await store.save(record) }
                }
                #expect(fault == .noSpace)
                #expect(await faults.first { $0 == .noSpace } == .noSpace)
                #expect(await states.first { $0 == .failed } == .failed)
                #expect(try await store.load(SessionName("work"))?.generation == 1)
                #expect(await store.obstacle() == .noSpace)
                let revision = try await members.revision()
                try await members.control("compact", revision)
                try await members.control("defrag")
                try await members.control("alarm", "disarm")
                #expect(await states.first { $0 == .ready } == .ready)
                try await store.save(etcdSample(generation: 2))
            }
        }
    }

    @Test("delay the mark of a restored backup while there is no space, and nothing is read again meanwhile")
    func noSpaceForMark() async throws {
        var options = EtcdMembers.Options()
        options.quota = 2 << 20
        try await EtcdMembers.running(options) { members in
            var host = try EtcdHost()
            host.checkInterval = .milliseconds(200)
            try await host.start(at: members.endpoints) { store in
                let places = await store.places
                #expect(try await until { await store.restores.history.isRead })
                try await members.control("put", places.history, "first")
                #expect(try await until { await store.restoresRead == 1 })
                var fault: ClusterFault?
                for index in 1...40 where fault == nil {
                    let record = try etcdSample("large", generation: UInt64(index), padding: 300_000)
                    fault = await store.fault { store throws(StoreError) in try await store.save(record) }
                }
                #expect(fault == .noSpace)
                // As in a backup that was made before the mark was written.
                try await members.control("del", places.history)
                #expect(try await until { await store.restores.isMarkDue })
                let revision = try await members.revision()
                try await members.control("compact", revision)
                try await members.control("defrag")
                try await members.control("alarm", "disarm")
                #expect(try await until { await (try? store.read(places.history)) != nil })
                // The other hosts notice the restore now, so everything is read once more.
                #expect(try await until { await store.restoresRead == 3 })
            }
        }
    }

    @Test("are no loss after a compaction of what a host has not read yet")
    func compacted() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                for generation in 1...5 as ClosedRange<UInt64> {
                    try await store.save(etcdSample(generation: generation))
                }
            }
            try await members.control("compact", try await members.revision())
            try await host.start(at: members.endpoints, watches: false) { store in
                // As after a sleep: the changes since then are gone.
                let end = await store.watchOnce(from: 2)
                let record = try await store.load(SessionName("work"))
                #expect(end == .compacted && record?.generation == 5)
            }
        }
    }

    @Test("include a restored backup: what it lacks is not a sign-out")
    func restored() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                let (faults, changes) = (store.faults(), store.changes())
                try await store.save(etcdSample("old"))
                let backup = try await members.backUp()
                try await store.save(etcdSample("new"))
                try await store.save(etcdSample("old", generation: 2))
                try await members.restore(backup)
                #expect(await faults.first { $0 == .wentBack } == .wentBack)
                let new = try SessionName("new")
                #expect(await changes.first { $0 == new } == new)
                let found = try await untilRead { () throws(StoreError) in try await store.load(new) }
                #expect(found == nil)
                #expect(try await store.hasLost(new))
                let old = try SessionName("old")
                let former = try await untilRead { () throws(StoreError) in try await store.load(old) }
                #expect(former?.generation == 1)
                // The session writes again what it has.
                for record in [try etcdSample("old", generation: 2), try etcdSample("new")] {
                    let kept = try await untilRead { () throws(StoreError) in
                        try await store.update(record, replacesOther: false).stored
                    }
                    #expect(kept == nil)
                }
                #expect(try await !store.hasLost(new))
            }
        }
    }

    /// Everything is read once more when the mark of the restore is in etcd. What is called meanwhile is refused, and
    /// repeated, as a session does.
    private func untilRead<Value>(_ call: () async throws(StoreError) -> Value) async throws -> Value {
        var value: Value?
        let isDone = try await until {
            do throws(StoreError) {
                value = try await call()
                return true
            } catch {
                guard error == .cluster(.wentBack) else { throw error }
                return false
            }
        }
        try #require(isDone)
        return try #require(value)
    }

    @Test("include an empty etcd: a host puts its cluster back")
    func emptied() async throws {
        try await EtcdMembers.running { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            try await one.start(at: members.endpoints) { store in
                let faults = store.faults()
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                // A host that waits to be admitted creates no other cluster.
                try await members.control("del", "--prefix", "")
                #expect(await faults.first { $0 == .wentBack } == .wentBack)
                // The fault is reported before the record of the cluster is written.
                let cluster = await store.places.cluster
                #expect(try await until { await (try? store.read(cluster)) != nil })
                try await two.start(at: members.endpoints) { other in
                    let (here, there) = (try await store.members(), try await other.members())
                    #expect(here.map(\.name) == ["one", "two"] && there.map(\.id) == here.map(\.id))
                    #expect(here.map(\.isThis) == [true, false] && there.map(\.isThis) == [false, true])
                }
            }
        }
    }
}

extension EtcdStore {
    /// Watches the changes from that revision on, until that ends.
    fileprivate func watchOnce(from revision: Int64) async -> ClusterFault {
        await client.watch(places.watched, to: places.watchedEnd, from: revision) { _ in nil }
    }
}

extension EtcdMembers {
    /// The newest one.
    func revision() async throws -> String {
        let status = try await control("endpoint", "status", "--write-out", "json")
        let json = try JSON(parsing: Array(status.utf8))
        guard let revision = json[0]?["Status"]?["header"]?["revision"]?.integerValue else { throw Failure(status) }
        return String(revision)
    }
}
