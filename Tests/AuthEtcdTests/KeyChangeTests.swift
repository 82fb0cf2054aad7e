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
                for store in [one, two] { group.addTask { try await changeKey(of: store) } }
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

    @Test("that removes a host is seen by that host's next watch, even without any session")
    func removal() async throws {
        try await EtcdMembers.running { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            try await one.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample())
                try await store.delete(SessionName("work"))
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints, watches: false) { other in
                    let removed = try #require(try await other.members().first { $0.isThis })
                    try await store.remove(removed)
                    // It has read nothing since.
                    #expect(try await other.members().count == 2)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { await other.run() }
                        let isSeen = try await until {
                            await other.fault { store throws(StoreError) in _ = try await store.members() }
                                == .notAdmitted
                        }
                        #expect(isSeen)
                        group.cancelAll()
                    }
                }
            }
        }
    }

    @Test("that a slow host has not read yet does not make it write with the former key")
    func slow() async throws {
        try await EtcdMembers.running { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            try await one.start(at: members.endpoints, watches: false) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints, watches: false) { other in
                    let former = try await other.opened()
                    try await changeKey(of: store)
                    let newest = try await store.opened().accepted.roster.keyIDs
                    #expect(former.accepted.roster.keyIDs != newest)
                    // It does not know the new key.
                    let outcome = try await other.update(etcdSample(generation: 2), replacesOther: false)
                    let (sealed, read) = (try await keys(of: store), try await store.load(SessionName("work")))
                    #expect(outcome.stored == nil && sealed == Set(newest) && read?.generation == 2)
                }
            }
        }
    }

    @Test("is made up for in a restored backup, so that hosts that came later can read its records")
    func restored() async throws {
        try await EtcdMembers.running { members in
            var one = try EtcdHost("one")
            one.checkInterval = .milliseconds(100)
            let three = try EtcdHost("three")
            try await one.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await store.save(Secret("client"), for: .client(provider: "envelope"))
                let backup = try await members.backUp()
                try await changeKey(of: store)
                try await store.save(etcdSample("later"))
                let newest = try #require(try await store.opened().accepted.roster.keyIDs.first)
                try await admit(three, by: store, at: members)
                try await members.restore(backup)
                // The client is sealed after the sessions.
                let isSealed = try await until { (try? await keys(of: store)) == [newest] }
                #expect(isSealed)
                try await three.start(at: members.endpoints, watches: false) { other in
                    let record = try await other.load(SessionName("work"))
                    let client = try await other.key(for: .client(provider: "envelope"))
                    #expect(record?.generation == 1 && client == Secret("client"))
                }
            }
        }
    }

    @Test("makes a record damaged that is written with the former key afterwards, even after others join")
    func written() async throws {
        try await TwoHosts.running { hosts in
            let (one, two) = (hosts.store, hosts.other)
            // As a removed host can do it, as long as it has access to etcd.
            try await hosts.members.copy("/authd/ada/sessions/work", to: "/authd/ada/kept")
            try await changeKey(of: one)
            let newest = try await one.opened().accepted.roster.keyIDs
            #expect(try await until { try await two.opened().accepted.roster.keyIDs == newest })
            try await hosts.members.copy("/authd/ada/kept", to: "/authd/ada/sessions/work")
            for store in [one, two] {
                await #expect(throws: StoreError.self) { try await store.load(SessionName("work")) }
            }
            try await admit(EtcdHost("three"), by: one, at: hosts.members)
            try await changeKey(of: one)
            for store in [one, two] {
                await #expect(throws: StoreError.self) { try await store.load(SessionName("work")) }
            }
            // A sign-in replaces it.
            try await two.save(etcdSample(generation: 2))
            #expect(try await one.load(SessionName("work"))?.generation == 2)
        }
    }

    @Test("makes a registered client that is written with the former key afterwards missing, until a new one is stored")
    func writtenClient() async throws {
        try await TwoHosts.running { hosts in
            let (one, two) = (hosts.store, hosts.other)
            let purpose = KeyPurpose.client(provider: "envelope")
            try await one.save(Secret("client"), for: purpose)
            try await hosts.members.copy("/authd/ada/keys/\(purpose.name)", to: "/authd/ada/kept")
            try await changeKey(of: one)
            let newest = try await one.opened().accepted.roster.keyIDs
            #expect(try await until { try await two.opened().accepted.roster.keyIDs == newest })
            for store in [one, two] { #expect(try await store.key(for: purpose) == Secret("client")) }
            try await hosts.members.copy("/authd/ada/kept", to: "/authd/ada/keys/\(purpose.name)")
            for store in [one, two] {
                #expect(try await store.key(for: purpose) == nil)
                #expect(try await store.damage(ofKeyFor: purpose)?.contains("a former key") == true)
            }
            try await two.save(Secret("later"), for: purpose)
            for store in [one, two] {
                #expect(try await store.key(for: purpose) == Secret("later"))
                #expect(try await store.damage(ofKeyFor: purpose) == nil)
            }
        }
    }

    @Test(
        "that was interrupted makes a record damaged that is written with the former key afterwards, even by the next one"
    )
    func interrupted() async throws {
        try await TwoHosts.running { hosts in
            let (one, two) = (hosts.store, hosts.other)
            try await hosts.members.copy("/authd/ada/sessions/work", to: "/authd/ada/kept")
            try await one.save(etcdSample("home"))
            let between = try await rekeyed(one).accepted.roster.keyIDs
            #expect(try await until { try await two.opened().accepted.roster.keyIDs == between })
            // What was written before is read.
            for store in [one, two] { #expect(try await store.load(SessionName("work"))?.generation == 1) }
            try await hosts.members.copy("/authd/ada/kept", to: "/authd/ada/sessions/work")
            // The list of hosts is newer than that record then.
            try await admit(EtcdHost("three"), by: one, at: hosts.members)
            for isChanged in [false, true] {
                if isChanged { try await changeKey(of: one) }
                let newest = try await one.opened().accepted.roster
                #expect(try await until { try await two.opened().accepted.roster == newest })
                for store in [one, two] {
                    await #expect(throws: StoreError.self) { try await store.load(SessionName("work")) }
                    #expect(try await store.load(SessionName("home")) != nil)
                }
            }
            #expect(try await keys(of: one) == Set([between[1]] + one.opened().accepted.roster.keyIDs))
        }
    }

    private func changeKey(of store: EtcdStore) async throws {
        try await store.changeRecordKey()
        try await store.endKeyChange()
    }

    private func rekeyed(_ store: EtcdStore) async throws -> EtcdStore.Member {
        try await store.change { (membership, accepted) throws(ClusterFault) in try membership.rekeyed(accepted) }
    }

    /// What the sessions and clients in etcd are sealed with.
    private func keys(of store: EtcdStore) async throws -> Set<String> {
        let entries = try await store.read(below: store.places.sessions) + store.read(below: store.places.keys)
        return Set(try entries.map { SealedBytes.hex(try SealedBytes.header(of: $0.value).keyID) })
    }
}
