import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@testable import AuthEtcd

/// What a backup of etcd brings back, besides older tokens (`EtcdFaultTests`) and older keys (`KeyChangeTests`).
@Suite("A restored backup of etcd", .timeLimit(.minutes(2)))
struct RestoredBackupTests {
    private static var work: SessionName {
        get throws { try SessionName("work") }
    }

    @Test("does not replace a later sign-in by an earlier one: that is written again")
    func signIn() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                let faults = store.faults()
                try await store.save(etcdSample(generation: 5))
                let backup = try await members.backUp()
                var later = try etcdSample()
                later.signIn = try #require(SignInID("s2-1"))
                try await store.save(later)
                try await members.restore(backup)
                #expect(await faults.first { $0 == .wentBack } == .wentBack)
                let (found, isLost) = (try await store.load(Self.work), try await store.hasLost(Self.work))
                #expect(found == nil && isLost)
                let outcome = try await store.update(later, replacesOther: false)
                let stored = try await store.load(Self.work)
                #expect(outcome.stored == nil && stored == later)
                // Another sign-in is another matter.
                var other = later
                other.signIn = try #require(SignInID("s3-1"))
                try await store.save(other)
                #expect(try await store.load(Self.work) == other)
            }
        }
    }

    @Test("does not bring back a session that was signed out of")
    func signOut() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await store.save(etcdSample("home"))
                let backup = try await members.backUp()
                try await store.delete(Self.work)
                try await store.save(etcdSample("later"))
                try await members.restore(backup)
                let isGone = try await until {
                    (try? await members.dump("/authd/ada/sessions/"))?.contains("sessions/work") == false
                }
                let (work, home) = (try await store.load(Self.work), try await store.load(SessionName("home")))
                #expect(isGone && work == nil && home != nil)
            }
        }
    }

    @Test("does not make a sign-out fail that finds it: the sign-out waits until everything was read again")
    func signOutMeanwhile() async throws {
        try await EtcdMembers.running { members in
            let host = try EtcdHost()
            try await host.start(at: members.endpoints, watches: false) { store in
                let sample = try etcdSample()
                try await store.save(sample)
                let backup = try await members.backUp()
                try await store.saveLater()
                try await members.restore(backup)
                let fault = await store.fault { store throws(StoreError) in
                    _ = try await store.load(sample.session)
                }
                #expect(fault == .wentBack)
                let removed = try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await store.run() }
                    defer { group.cancelAll() }
                    return try await store.delete(sample.session, of: sample.signIn)
                }
                let isSignedOut = await store.view.isSignedOut(sample.session)
                let sessions = try await members.dump("/authd/ada/sessions/")
                #expect(removed == sample && isSignedOut && !sessions.contains("sessions/work"))
            }
        }
    }

    @Test("does not end a sign-in of another host that a sign-out of this one has found")
    func foundByDelete() async throws {
        try await TwoHosts.running { hosts in
            let (one, two) = (hosts.store, hosts.other)
            var later = try etcdSample()
            later.signIn = try #require(SignInID("s2-1"))
            try await two.save(later)
            #expect(try await one.delete(Self.work, of: etcdSample().signIn) == nil)
            let isSignedOut = try await one.view.isSignedOut(Self.work)
            #expect(!isSignedOut)
            let backup = try await hosts.members.backUp()
            let faults = one.faults()
            // Its record has changed since the backup was made, and this host has not read it.
            later.generation = 2
            try await two.save(later)
            let revision = try #require(try await two.read(two.places.session(Self.work))?.modRevision)
            #expect(try await until { await one.processed >= revision })
            try await one.saveLater()
            try await hosts.members.restore(backup)
            #expect(await faults.first { $0 == .wentBack } == .wentBack)
            later.generation = 1
            #expect(try await one.load(Self.work) == later)
        }
    }

    @Test("does not have two hosts send the same tokens: one that is sending notes it again, and may write the result")
    func sending() async throws {
        try await TwoHosts.running { hosts in
            let (one, two, members) = (hosts.store, hosts.other, hosts.members)
            let faults = (one.faults(), two.faults())
            let sample = try etcdSample()
            let lease = try await one.grantLease().id
            let backup = try await members.backUp()
            // Each has seen a later state of etcd.
            for store in [one, two] { try await store.saveLater() }
            #expect(try await one.hold(Self.work, for: sample.version, under: lease) == .held(sample, after: .answered))
            try await members.restore(backup)
            #expect(await faults.0.first { $0 == .wentBack } == .wentBack)
            #expect(await faults.1.first { $0 == .wentBack } == .wentBack)
            // etcd has that lease, and its hold is gone.
            #expect(try await one.keepAlive(lease) == nil)
            let fault = await one.fault { store throws(StoreError) in
                _ = try await store.hold(sample.session, for: sample.version, under: lease)
            }
            #expect(fault == .leaseLost)
            let isNoted = try await until {
                try await members.dump("/authd/ada/intents/").contains("intents/work")
            }
            #expect(isNoted)
            let others = try await two.grantLease().id
            #expect(
                try await two.hold(Self.work, for: sample.version, under: others) == .held(sample, after: .abandoned))
            let renewed = try etcdSample(generation: 2)
            #expect(try await one.update(renewed, replacesOther: false).stored == nil)
            #expect(try await two.claim(Self.work, for: sample.version) == renewed)
        }
    }

    @Test("does not delay newer tokens by the hold that it brings back")
    func holdOfBackup() async throws {
        try await TwoHosts.running { hosts in
            let (one, two, members) = (hosts.store, hosts.other, hosts.members)
            let faults = (one.faults(), two.faults())
            let (sample, renewed) = (try etcdSample(), try etcdSample(generation: 2))
            let others = try await two.grantLease().id
            _ = try await two.hold(Self.work, for: sample.version, under: others)
            let backup = try await members.backUp()
            #expect(try await two.update(renewed, replacesOther: false).stored == nil)
            #expect(try await one.load(Self.work)?.generation == 2)
            for store in [one, two] { try await store.saveLater() }
            try await members.restore(backup)
            #expect(await faults.0.first { $0 == .wentBack } == .wentBack)
            #expect(await faults.1.first { $0 == .wentBack } == .wentBack)
            #expect(try await one.update(renewed, replacesOther: false).stored == nil)
            #expect(try await two.load(Self.work)?.generation == 2)
        }
    }

    @Test("makes a host that is sending note its intent again, even if another host has the session and waits")
    func sendingBehindWaiting() async throws {
        try await TwoHosts.running { hosts in
            let (one, two, members) = (hosts.store, hosts.other, hosts.members)
            let (sample, renewed) = (try etcdSample(), try etcdSample(generation: 2))
            let lease = try await one.grantLease().id
            #expect(try await one.hold(Self.work, for: sample.version, under: lease) == .held(sample, after: .answered))
            // As a backup from before that has it.
            for kind in ["holders", "intents"] { try await members.control("del", "/authd/ada/\(kind)/work") }
            let revision = try await #require(Int64(members.revision()))
            for store in [one, two] { await store.noteWentBack(revision) }
            let others = try await two.grantLease().id
            let early = await #expect(throws: StoreError.self) {
                try await two.hold(Self.work, for: sample.version, under: others)
            }
            #expect(early == .cluster(.wentBack), "a hold before the mark")
            try await two.recover()
            #expect(
                try await two.hold(Self.work, for: sample.version, under: others) == .held(sample, after: .abandoned))
            try await one.recover()
            let isNoted = try await one.holds[Self.work]?.isLost
            #expect(isNoted == true)
            #expect(try await one.update(renewed, replacesOther: false).stored == nil)
            #expect(try await two.claim(Self.work, for: sample.version) == renewed)
        }
    }

    @Test("makes a host that is sending note that again, even if another one was when the backup was made")
    func sendingAfterOther() async throws {
        try await TwoHosts.running { hosts in
            let (one, two, members) = (hosts.store, hosts.other, hosts.members)
            let faults = one.faults()
            let sample = try etcdSample()
            let others = try await two.grantLease().id
            _ = try await two.hold(Self.work, for: sample.version, under: others)
            let backup = try await members.backUp()
            try await two.release(Self.work, leaving: .answered)
            let lease = try await one.grantLease().id
            #expect(try await one.hold(Self.work, for: sample.version, under: lease) == .held(sample, after: .answered))
            let former = try await members.dump("/authd/ada/intents/work")
            try await one.saveLater()
            try await members.restore(backup)
            #expect(await faults.first { $0 == .wentBack } == .wentBack)
            let id = try #require(try await one.ownIntents[Self.work]?.lastID)
            #expect(former.contains(id))
            let isNoted = try await until { try await members.dump("/authd/ada/intents/work").contains(id) }
            #expect(isNoted)
        }
    }

    @Test("does not make a host replace what another one has noted since, even if that one has let the session go")
    func notedSince() async throws {
        try await TwoHosts.running { hosts in
            let (one, two, members) = (hosts.store, hosts.other, hosts.members)
            let sample = try etcdSample()
            let lease = try await one.grantLease().id
            #expect(try await one.hold(Self.work, for: sample.version, under: lease) == .held(sample, after: .answered))
            // As a backup from before that has it.
            for kind in ["holders", "intents"] { try await members.control("del", "/authd/ada/\(kind)/work") }
            try await one.noteWentBack(#require(Int64(members.revision())))
            let others = try await two.grantLease().id
            #expect(
                try await two.hold(Self.work, for: sample.version, under: others) == .held(sample, after: .answered))
            try await two.release(Self.work, leaving: .unanswered)
            let noted = try await #require(two.read(two.places.intent(Self.work)))
            try await one.recover()
            #expect(try await two.read(two.places.intent(Self.work)) == noted)
            let (hold, recovery) = try await (one.holds[Self.work], one.restores.recovery)
            #expect(hold == nil && recovery == nil)
        }
    }

    @Test("is marked in etcd with one value, however many hosts notice it")
    func marked() async throws {
        try await TwoHosts.running { hosts in
            let (one, two, members) = (hosts.store, hosts.other, hosts.members)
            let faults = (one.faults(), two.faults())
            let backup = try await members.backUp()
            for store in [one, two] { try await store.saveLater() }
            try await members.restore(backup)
            #expect(await faults.0.first { $0 == .wentBack } == .wentBack)
            #expect(await faults.1.first { $0 == .wentBack } == .wentBack)
            let isDone = try await until {
                let left = await (one.restores.recovery, two.restores.recovery)
                return left.0 == nil && left.1 == nil
            }
            let mark = try await #require(one.read(one.places.history))
            let (known, others) = await (one.restores.history, two.restores.history)
            #expect(isDone && known == others && !known.isOther(mark) && !known.isNew(mark))
        }
    }

    @Test("makes a host wait for requests of others that etcd does not know of any more")
    func unknownRequest() async throws {
        try await TwoHosts.running { hosts in
            let (two, members) = (hosts.other, hosts.members)
            let faults = two.faults()
            let sample = try etcdSample()
            let backup = try await members.backUp()
            try await two.save(etcdSample("later"))
            try await members.restore(backup)
            #expect(await faults.first { $0 == .wentBack } == .wentBack)
            // Before the mark, no hold begins.
            #expect(try await until { await two.restores.recovery == nil })
            let lease = try await two.grantLease().id
            #expect(
                try await two.hold(Self.work, for: sample.version, under: lease) == .held(sample, after: .abandoned))
            #expect(try await !members.dump("/authd/ada/intents/").contains("intents/work"))
        }
    }

    @Test("makes a host wait for requests of others, even if it has the intent of an earlier one that has ended")
    func unansweredBefore() async throws {
        try await TwoHosts.running { hosts in
            let (one, two, members) = (hosts.store, hosts.other, hosts.members)
            let faults = two.faults()
            let sample = try etcdSample()
            let former = try await one.grantLease().id
            #expect(
                try await one.hold(Self.work, for: sample.version, under: former)
                    == .held(sample, after: .answered))
            try await one.release(Self.work, leaving: .unanswered)
            let backup = try await members.backUp()
            try await two.saveLater()
            try await members.restore(backup)
            #expect(await faults.first { $0 == .wentBack } == .wentBack)
            // Before the mark, no hold begins.
            #expect(try await until { await two.restores.recovery == nil })
            let lease = try await two.grantLease().id
            #expect(
                try await two.hold(Self.work, for: sample.version, under: lease)
                    == .held(sample, after: .abandoned))
        }
    }
}

extension EtcdStore {
    /// More changes than a host makes before another one reads that etcd went back.
    func saveLater() async throws {
        for generation in 1...10 as ClosedRange<UInt64> { try await save(etcdSample("later", generation: generation)) }
    }
}
