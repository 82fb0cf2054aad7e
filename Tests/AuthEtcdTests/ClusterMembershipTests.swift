import AuthModel
import AuthSealedFile
import AuthWire
import Testing

@testable import AuthEtcd

@Suite("The membership of a cluster")
struct ClusterMembershipTests {
    private let place = "/authd/ada/cluster"

    private func host(_ name: String) throws -> HostState { HostState(key: try .random(), name: name) }

    private func membership(_ host: HostState) -> ClusterMembership { ClusterMembership(host: host, place: place) }

    /// A cluster of these hosts, as each has accepted it.
    private func cluster(_ names: String...) throws -> [HostState] {
        var hosts = try names.map(host)
        guard case .create(let created) = try membership(hosts[0]).decision(on: nil) else {
            throw ClusterFault.invalid(reason: "no cluster was created")
        }
        hosts[0].accepted = created
        for index in hosts.indices.dropFirst() {
            let code = AdmissionCode.random()
            hosts[index].code = code
            guard let before = hosts[0].accepted else { continue }
            hosts[0].accepted = try membership(hosts[0]).admitting(hosts[index].host, with: code, to: before)
        }
        let record = hosts[0].accepted?.record.bytes
        for index in hosts.indices.dropFirst() {
            hosts[index].accepted = try accepted(membership(hosts[index]).decision(on: record))
            hosts[index].code = nil
        }
        return hosts
    }

    private func accepted(_ decision: ClusterMembership.Decision) throws -> AcceptedCluster {
        guard case .accept(let accepted) = decision else { throw ClusterFault.invalid(reason: "\(decision)") }
        return accepted
    }

    /// A change of the key that this host has completed.
    private func changed(_ host: HostState) throws -> AcceptedCluster {
        var host = host
        let between = try membership(host).rekeyed(#require(host.accepted))
        host.accepted = between
        return try membership(host).settled(between, at: 1)
    }

    @Test("is created by the first host, and recognized by it after a kill")
    func first() throws {
        let one = try host("one")
        guard case .create(let created) = try membership(one).decision(on: nil) else {
            Issue.record("it is not created")
            return
        }
        #expect(try accepted(membership(one).decision(on: created.record.bytes)) == created)
    }

    @Test("has one record key for all hosts, and etcd has it only wrapped")
    func sharesKey() throws {
        let hosts = try cluster("one", "two", "three")
        let keys = hosts.compactMap { $0.accepted?.currentKeys.first }
        #expect(keys.count == 3 && Set(keys.map(\.id)).count == 1)
        let record = try #require(hosts[0].accepted?.record.bytes)
        for key in keys {
            #expect(!String(decoding: record, as: UTF8.self).contains(Base64.encode(key.secret.revealBytes())))
        }
        #expect(hosts[2].accepted?.roster.hosts.map(\.name) == ["one", "two", "three"])
    }

    @Test("survives the disk of the host")
    func coding() throws {
        var one = try cluster("one", "two")[1]
        one.code = .random()
        #expect(try HostState(one.content, place: place) == one)
    }

    @Test("refuses a host that nobody has admitted")
    func stranger() throws {
        let hosts = try cluster("one")
        let record = hosts[0].accepted?.record.bytes
        #expect(try membership(host("two")).decision(on: record) == .refuse(.notAdmitted))
    }

    @Test("refuses an admission with another code, on both sides")
    func wrongCode() throws {
        let one = try cluster("one")[0]
        let before = try #require(one.accepted)
        var two = try host("two")
        two.code = .random()
        let other = AdmissionCode.random()
        // The member does not find the request of a code that is typed wrongly.
        let admission = Admission(of: two.host, to: before.roster.cluster, with: try #require(two.code))
        #expect(Admission(admission.bytes)?.isProved(with: other, in: before.roster.cluster) == false)
        #expect(try Admission(admission.bytes)?.isProved(with: #require(two.code), in: before.roster.cluster) == true)
        // etcd's operators, who do not know the code, cannot admit the host to a cluster of theirs.
        let admitted = try membership(one).admitting(two.host, with: other, to: before)
        #expect(try membership(two).decision(on: admitted.record.bytes) == .refuse(.notAdmitted))
    }

    @Test("refuses a record key of etcd's operators")
    func forged() throws {
        let hosts = try cluster("one", "two")
        let record = try #require(hosts[1].accepted?.record)
        // Its cluster, with a key of a host that the operators have made.
        let operators = try host("operators")
        let key = try SealingKey.random()
        let roster = ClusterRoster(
            cluster: record.cluster, epoch: record.epoch + 1, keyIDs: [SealedBytes.hex(key.id)],
            hosts: [hosts[1].host, operators.host])
        let forged = ClusterRecord(
            cluster: record.cluster, epoch: record.epoch + 1,
            wrapped: [try operators.key.wrap(key, for: hosts[1].host, of: record.cluster)],
            roster: try roster.sealed(at: place, with: key), formerRosters: [])
        #expect(try membership(hosts[1]).decision(on: forged.bytes) == .refuse(.notAdmitted))
    }

    @Test("puts its newer record back in place of an older one, or of none")
    func older() throws {
        var one = try cluster("one")[0]
        let old = try #require(one.accepted)
        one.accepted = try membership(one).rekeyed(old)
        let newer = try #require(one.accepted)
        #expect(try membership(one).decision(on: old.record.bytes) == .putBack(newer))
        #expect(try membership(one).decision(on: nil) == .putBack(newer))
    }

    @Test("refuses another cluster")
    func other() throws {
        let (one, two) = (try cluster("one")[0], try cluster("two")[0])
        #expect(try membership(one).decision(on: two.accepted?.record.bytes) == .refuse(.otherCluster))
    }

    @Test("leaves no host without a key during a change of keys, not even one that was away")
    func rekeyed() throws {
        var hosts = try cluster("one", "two", "three")
        let old = try #require(hosts[0].accepted?.currentKeys.first)
        // The second host makes the new key.
        hosts[1].accepted = try membership(hosts[1]).rekeyed(#require(hosts[1].accepted))
        let between = try #require(hosts[1].accepted)
        #expect(between.currentKeys.count == 2 && between.currentKeys.contains { $0.id == old.id })
        hosts[0].accepted = try accepted(membership(hosts[0]).decision(on: between.record.bytes))
        #expect(hosts[0].accepted?.currentKeys.map(\.id) == between.currentKeys.map(\.id))
        let settled = try membership(hosts[1]).settled(between, at: 1)
        // It has not seen the record in between.
        let third = try accepted(membership(hosts[2]).decision(on: settled.record.bytes))
        #expect(third.currentKeys.map(\.id) == [between.currentKeys[0].id])
        // What is still sealed with the former key remains readable.
        #expect(third.keys.contains { $0.id == old.id })
    }

    @Test("trusts a host that was admitted while this one was away")
    func admittedMeanwhile() throws {
        var hosts = try cluster("one", "two")
        var three = try host("three")
        let code = AdmissionCode.random()
        three.code = code
        hosts[0].accepted = try membership(hosts[0]).admitting(three.host, with: code, to: #require(hosts[0].accepted))
        three.accepted = try accepted(membership(three).decision(on: hosts[0].accepted?.record.bytes))
        let changed = try membership(three).rekeyed(#require(three.accepted))
        let seen = try accepted(membership(hosts[1]).decision(on: changed.record.bytes))
        #expect(seen.roster.hosts.map(\.name) == ["one", "two", "three"])
    }

    @Test("leads a host that was away through changes of the key, the last one by a host that it does not know")
    func changedTwice() async throws {
        var hosts = try cluster("one", "two")
        var three = try host("three")
        let code = AdmissionCode.random()
        three.code = code
        let (keys, before) = (try #require(hosts[1].accepted?.keys), try #require(hosts[0].accepted))
        hosts[0].accepted = try changed(hosts[0])
        hosts[0].accepted = try membership(hosts[0]).admitting(three.host, with: code, to: #require(hosts[0].accepted))
        three.accepted = try accepted(membership(three).decision(on: hosts[0].accepted?.record.bytes))
        three.code = nil
        for isSettled in [false, true] {
            var last = try membership(three).rekeyed(#require(three.accepted))
            if isSettled { last = try membership(three).settled(last, at: 1) }
            let seen = try accepted(membership(hosts[1]).decision(on: last.record.bytes))
            #expect(seen.currentKeys.map(\.id) == last.currentKeys.map(\.id))
            #expect(seen.roster.hosts.map(\.name) == ["one", "two", "three"])
            // What it has read before remains readable, and what was sealed in between.
            #expect(seen.keys.map(\.id).contains(keys[0].id))
            #expect(seen.keys.map(\.id).contains(try #require(three.accepted?.currentKeys.first?.id)))
            #expect(seen.roster.epoch > before.roster.epoch)
        }
    }

    @Test("admits a host that reads its admission after changes of the key", arguments: [1, 2, 3])
    func admittedBefore(_ changes: Int) throws {
        var hosts = try cluster("one", "two")
        var three = try host("three")
        let code = AdmissionCode.random()
        three.code = code
        hosts[0].accepted = try membership(hosts[0]).admitting(three.host, with: code, to: #require(hosts[0].accepted))
        for change in 0..<changes {
            let maker = change % 2
            if change > 0 {
                let record = hosts[1 - maker].accepted?.record
                hosts[maker].accepted = try accepted(membership(hosts[maker]).decision(on: record?.bytes))
            }
            hosts[maker].accepted = try changed(hosts[maker])
        }
        let last = try #require(hosts[(changes - 1) % 2].accepted)
        let seen = try accepted(membership(three).decision(on: last.record.bytes))
        #expect(seen.currentKeys.map(\.id) == last.currentKeys.map(\.id))
        // A code of somebody else leads nowhere.
        three.code = .random()
        #expect(try membership(three).decision(on: last.record.bytes) == .refuse(.notAdmitted))
    }

    @Test("keeps the keys of others that a removed host has wrapped")
    func wrappedByRemoved() throws {
        var hosts = try cluster("one", "two", "three")
        let between = try membership(hosts[1]).rekeyed(#require(hosts[1].accepted))
        hosts[0].accepted = try accepted(membership(hosts[0]).decision(on: between.record.bytes))
        let without = try membership(hosts[0]).rekeyed(#require(hosts[0].accepted), without: hosts[1].key.id)
        #expect(!without.record.wrapped.contains { $0.host == hosts[1].key.id })
        let seen = try accepted(membership(hosts[2]).decision(on: without.record.bytes))
        #expect(seen.currentKeys.map(\.id) == without.currentKeys.map(\.id) && without.currentKeys.count == 3)
    }

    @Test("leads a host that was away past one that was removed, by keys that this one has wrapped")
    func removedWhileAway() throws {
        var hosts = try cluster("one", "two", "three")
        let away = hosts[2]
        hosts[1].accepted = try changed(hosts[1])
        var four = try host("four")
        let code = AdmissionCode.random()
        four.code = code
        hosts[1].accepted = try membership(hosts[1]).admitting(four.host, with: code, to: #require(hosts[1].accepted))
        four.accepted = try accepted(membership(four).decision(on: hosts[1].accepted?.record.bytes))
        four.code = nil
        // It has read the change of the key, but not the removal.
        hosts[0].accepted = try accepted(membership(hosts[0]).decision(on: four.accepted?.record.bytes))
        for isSettled in [false, true] {
            var last = try membership(four).rekeyed(#require(four.accepted), without: hosts[1].key.id)
            if isSettled {
                four.accepted = last
                last = try membership(four).settled(last, at: 1)
            }
            #expect(!last.record.wrapped.contains { $0.host == hosts[1].key.id })
            for host in [away, hosts[0]] {
                let seen = try accepted(membership(host).decision(on: last.record.bytes))
                #expect(seen.currentKeys.map(\.id) == last.currentKeys.map(\.id))
                #expect(seen.roster.hosts.map(\.name) == ["one", "three", "four"])
            }
            #expect(try membership(hosts[1]).decision(on: last.record.bytes) == .refuse(.notAdmitted))
        }
    }

    @Test("keeps the first state of etcd at which a key was given up, and an earlier one after a restored backup")
    func givenUp() throws {
        let one = try cluster("one")[0]
        let before = try #require(one.accepted)
        let former = try #require(before.roster.keyIDs.first)
        let between = try membership(one).rekeyed(before)
        #expect(between.roster.lastUse(of: former) == nil)
        let given = between.givingUpFormerKeys(at: 5)
        #expect(given.roster.lastUse(of: former) == 5)
        #expect(given.givingUpFormerKeys(at: 9).roster.lastUse(of: former) == 5)
        #expect(given.givingUpFormerKeys(at: 3).roster.lastUse(of: former) == 3)
        #expect(try given.roster.lastUse(of: #require(between.roster.keyIDs.first)) == nil)
    }

    @Test("keeps a record of limited size, and reads what is still sealed with a key, however often that changes")
    func manyChanges() throws {
        var hosts = try cluster("one", "two")
        let first = try #require(hosts[0].accepted?.roster.keyIDs.first)
        for number in 1...70 as ClosedRange<Int64> {
            let between = try membership(hosts[0]).rekeyed(#require(hosts[0].accepted))
            let replaced = between.roster.keyIDs[1]
            #expect(between.roster.lastUse(of: replaced) == nil)
            hosts[0].accepted = between
            // At the end, a restored backup has an earlier state than those before.
            let revision = number < 70 ? number + 1 : 1
            let last = between.givingUpFormerKeys(at: revision)
            let settled = try membership(hosts[0]).settled(last, at: revision)
            #expect([last, settled].map { $0.roster.lastUse(of: replaced) } == [revision, revision])
            hosts[0].accepted = settled
        }
        #expect(hosts[0].accepted?.roster.formerUntil.count == 64)
        #expect(hosts[0].accepted?.roster.lastUse(of: first) == 0)
        let record = try #require(hosts[0].accepted?.record)
        #expect(record.wrapped.count == 2 * (ClusterRecord.formerKeys + 1))
        #expect(record.formerRosters.count == ClusterRecord.formerKeys)
        #expect(try ClusterRecord(record.bytes) == record)
        // It has no way to the newest key but a host that it knows.
        #expect(try accepted(membership(hosts[1]).decision(on: record.bytes)).record == record)
        let large = ClusterRecord(
            cluster: record.cluster, epoch: record.epoch,
            wrapped: record.wrapped.flatMap { Array(repeating: $0, count: 200) }, roster: record.roster,
            formerRosters: record.formerRosters)
        let current = try #require(hosts[0].accepted?.roster.keyIDs)
        let bounded = large.bounded(current: current)
        #expect(bounded.bytes.count <= ClusterRecord.mostBytes && large.bytes.count > ClusterRecord.mostBytes)
        #expect(bounded.wrapped.count { current.contains($0.key) } == 400 && !bounded.formerRosters.isEmpty)
    }

    @Test("gives a removed host no later key")
    func removed() throws {
        let hosts = try cluster("one", "two", "three")
        let without = try membership(hosts[0]).rekeyed(#require(hosts[0].accepted), without: hosts[1].key.id)
        #expect(try membership(hosts[1]).decision(on: without.record.bytes) == .refuse(.notAdmitted))
        #expect(without.roster.hosts.map(\.name) == ["one", "three"])
        _ = try accepted(membership(hosts[2]).decision(on: without.record.bytes))
    }

    @Test("refuses what a host that was off makes of a restored backup, if that brings a removed host back")
    func restored() throws {
        var hosts = try cluster("one", "two", "three")
        let between = try membership(hosts[0]).rekeyed(#require(hosts[0].accepted), without: hosts[2].key.id)
        hosts[0].accepted = between
        hosts[0].accepted = try membership(hosts[0]).settled(between, at: 1)
        #expect(try HostState(hosts[0].content, place: place) == hosts[0])
        // It knows nothing of the removal, and the record of the backup grows older by its changes.
        let backup = hosts[1]
        for _ in 1...3 { hosts[1].accepted = try changed(hosts[1]) }
        let forked = try #require(hosts[1].accepted)
        #expect(forked.roster.epoch > hosts[0].accepted?.roster.epoch ?? .max)
        #expect(try membership(hosts[0]).decision(on: forked.record.bytes) == .refuse(.notAdmitted))
        // The same host may be admitted again, by any member.
        var two = backup
        two.accepted = try accepted(membership(two).decision(on: hosts[0].accepted?.record.bytes))
        let code = AdmissionCode.random()
        two.accepted = try membership(two).admitting(hosts[2].host, with: code, to: #require(two.accepted))
        two.accepted = try changed(two)
        let seen = try accepted(membership(hosts[0]).decision(on: two.accepted?.record.bytes))
        #expect(seen.roster.hosts.map(\.name).sorted() == ["one", "three", "two"])
    }

    @Test("refuses a record that a removed host makes of what it knew, during and after the change of keys")
    func forgedByRemoved() throws {
        var hosts = try cluster("one", "two", "three")
        let before = try #require(hosts[0].accepted)
        let old = try #require(before.currentKeys.first)
        let between = try membership(hosts[0]).rekeyed(before, without: hosts[1].key.id)
        hosts[0].accepted = between
        let settled = try membership(hosts[0]).settled(between, at: 1)
        for state in [between, settled] {
            let epoch = state.roster.epoch + 1
            let roster = ClusterRoster(
                cluster: before.roster.cluster, epoch: epoch, keyIDs: before.roster.keyIDs, hosts: before.roster.hosts)
            // Wrapped by members, at that time.
            let forged = ClusterRecord(
                cluster: before.roster.cluster, epoch: epoch, wrapped: before.record.wrapped,
                roster: try roster.sealed(at: place, with: old),
                formerRosters: [try roster.sealed(at: place + " former", with: old)])
            for index in [0, 2] {
                var member = hosts[index]
                member.accepted = state
                #expect(try membership(member).decision(on: forged.bytes) == .refuse(.notAdmitted))
            }
        }
    }

    @Test(
        "is not changed by bytes that are not a record",
        arguments: ["", "{}", "[1]", "nothing of use", #"{"format":9}"#])
    func garbage(_ text: String) throws {
        #expect(throws: ClusterFault.self) { try membership(host("one")).decision(on: Array(text.utf8)) }
    }

    @Test("has a code that can be typed in any case and with any separators")
    func typed() throws {
        let code = AdmissionCode.random()
        #expect(code.shown.count == 14)
        #expect(AdmissionCode(code.shown.lowercased().replacing("-", with: " ")) == code)
        for wrong in ["", "ABCD-EFGH", code.shown + "0", "ILOU-ILOU-ILOU"] { #expect(AdmissionCode(wrong) == nil) }
    }
}
