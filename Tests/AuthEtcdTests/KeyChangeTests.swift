import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@testable import AuthEtcd

@Suite("A change of the record key", .timeLimit(.minutes(2)))
struct KeyChangeTests {
    private static let names = ["a", "b", "c"]

    @Test("that another host begins meanwhile leaves nothing sealed with the former key, whichever ends first")
    func two() async throws {
        try await TwoHosts.running { hosts in
            let (one, two) = (hosts.store, hosts.other)
            for name in Self.names { try await one.save(etcdSample(name)) }
            let first = try await rekeyed(one)
            // The record of one session is sealed with the first new key already, when the second one is made.
            try await one.save(etcdSample("a", generation: 2))
            let second = try await rekeyed(two)
            try await one.settle(first)
            let newest = try #require(second.accepted.roster.keyIDs.first)
            #expect(try await keys(of: one) == [newest])
            #expect(try await one.reopened(instead: first).accepted.roster.keyIDs == [newest])
            try await two.settle(second)
            #expect(try await keys(of: two) == [newest])
            // A host that comes now has no other key.
            let three = try EtcdHost("three")
            try await admit(three, by: two, at: hosts.members)
            try await three.start(at: hosts.members.endpoints, watches: false) { store in
                let (record, all) = (try await store.load(SessionName("a")), try await store.loadAll())
                #expect(record?.generation == 2 && all.count == Self.names.count + 1)
            }
        }
    }

    @Test("that two hosts make at once ends with one key, and both read everything")
    func atOnce() async throws {
        try await TwoHosts.running { hosts in
            let (one, two) = (hosts.store, hosts.other)
            for name in Self.names { try await one.save(etcdSample(name)) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in [one, two] { group.addTask { try await store.changeRecordKey() } }
                try await group.waitForAll()
            }
            #expect(try await keys(of: one).count == 1)
            for store in [one, two] {
                let member = try await store.opened()
                #expect(try await store.reopened(instead: member).accepted.roster.keyIDs.count == 1)
                for name in Self.names { #expect(try await store.load(SessionName(name)) != nil) }
            }
        }
    }

    private func rekeyed(_ store: EtcdStore) async throws -> EtcdStore.Member {
        try await store.change { (membership, accepted) throws(ClusterFault) in try membership.rekeyed(accepted) }
    }

    /// What the records in etcd are sealed with.
    private func keys(of store: EtcdStore) async throws -> Set<String> {
        Set(
            try await store.read(below: store.places.sessions).map {
                SealedBytes.hex(try SealedBytes.header(of: $0.value).keyID)
            })
    }
}
