import AuthEtcd
import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@Suite("Holds in etcd", .timeLimit(.minutes(2)))
struct EtcdLeaseTests {
    private static var work: SessionName {
        get throws { try SessionName("work") }
    }

    private func together(
        clockError: Duration = .zero, _ body: (EtcdStore, EtcdStore, EtcdMembers) async throws -> Void
    ) async throws {
        try await TwoHosts.running(clockError: clockError) { try await body($0.store, $0.other, $0.members) }
    }

    private func hold(_ store: EtcdStore, generation: UInt64 = 1) async throws -> (LeaseID, HoldOutcome) {
        let lease = try await store.grantLease()
        #expect(lease.lasts == .seconds(10))
        return (
            lease.id, try await store.hold(Self.work, for: etcdSample(generation: generation).version, under: lease.id)
        )
    }

    @Test("belong to one host at a time, and end with the write of newer tokens")
    func written() async throws {
        try await together { store, other, members in
            let (_, outcome) = try await hold(store)
            let sample = try etcdSample()
            #expect(outcome == .held(sample, after: .answered))
            #expect(try await hold(other).1 == .heldElsewhere)
            #expect(try await store.update(etcdSample(generation: 2), replacesOther: false).stored == nil)
            let freed = await other.released().first { _ in true }
            #expect(try freed == Self.work)
            let renewed = try etcdSample(generation: 2)
            #expect(try await hold(other, generation: 2).1 == .held(renewed, after: .answered))
            #expect(try await members.dump("/authd/ada/holders/").contains("holders/work"))
        }
    }

    @Test("tell the next host whether the provider's response is known")
    func released() async throws {
        try await together { store, other, members in
            let sample = try etcdSample()
            _ = try await hold(store)
            try await store.release(Self.work, leaving: .answered)
            #expect(try await hold(other).1 == .held(sample, after: .answered))
            try await other.release(Self.work, leaving: .unanswered)
            // It stays until this host is about to send something.
            let (_, afterNone) = try await hold(store)
            #expect(afterNone == .held(sample, after: .unanswered))
            try await store.release(Self.work, leaving: .answered)
            let (third, again) = try await hold(store)
            #expect(again == .held(sample, after: .unanswered))
            #expect(try await store.claim(Self.work, for: etcdSample(generation: 1).version) == sample)
            // A lease that ends, as with its host.
            try await members.control("lease", "revoke", String(third.number, radix: 16))
            #expect(try await hold(other).1 == .held(sample, after: .abandoned))
            // Newer tokens, and nothing was left behind for them.
            #expect(try await other.update(etcdSample(generation: 2), replacesOther: false).stored == nil)
            #expect(try await hold(store, generation: 2).1 == .held(etcdSample(generation: 2), after: .answered))
        }
    }

    @Test("end with their lease after ten seconds without a sign of life, and not as long as it is kept")
    func ends() async throws {
        try await together { store, other, members in
            let (lease, _) = try await hold(store)
            #expect(try await store.keepAlive(lease) == .seconds(10))
            #expect(try await hold(other).1 == .heldElsewhere)
            // The deletion by etcd itself is reported.
            let freed = await other.released().first { _ in true }
            #expect(try freed == Self.work)
            #expect(try await store.keepAlive(lease) == nil)
            let home = try SessionName("home")
            let version = try etcdSample("home").version
            #expect(
                await store.fault { store throws(StoreError) in
                    _ = try await store.hold(home, for: version, under: lease)
                } == .leaseLost)
        }
    }

    @Test("keep tokens of others out, and nothing else")
    func keepsOut() async throws {
        try await together { store, other, members in
            _ = try await hold(store)
            // A change of the user.
            var changed = try etcdSample()
            (changed.user, changed.revision) = (UserSummary(email: "grace@example.org"), 2)
            #expect(try await other.update(changed, replacesOther: false).stored == nil)
            // Tokens that were renewed without etcd wait, and are refused.
            var renewed = try etcdSample(generation: 2)
            (renewed.user, renewed.revision) = (changed.user, 2)
            let theirs = renewed
            #expect(
                await other.fault { store throws(StoreError) in
                    _ = try await store.update(theirs, replacesOther: false)
                } == .heldElsewhere)
            // The holder finds the change, and its tokens are written with it.
            renewed = try etcdSample(generation: 2)
            let stored = try #require(try await store.update(renewed, replacesOther: false).stored)
            #expect(stored.revision == 2 && stored.generation == 1)
            let merged = renewed.merged(with: stored)
            #expect(try await store.update(merged, replacesOther: false) == .written(endsHold: true))
            #expect(try await other.load(Self.work)?.user?.email == "grace@example.org")
            // Another sign-in is the user's wish.
            let (_, outcome) = try await hold(store, generation: 2)
            #expect(outcome != .heldElsewhere)
            var signIn = try etcdSample(generation: 3)
            signIn.signIn = try #require(SignInID("s2-1"))
            #expect(try await other.update(signIn, replacesOther: true).stored == nil)
        }
    }

    @Test("that were lost let nothing be written over another host's renewal, whatever the dates are")
    func overtaken() async throws {
        try await together { store, other, members in
            let faults = store.faults()
            let (lease, _) = try await hold(store)
            try await members.control("lease", "revoke", String(lease.number, radix: 16))
            _ = try await hold(other)
            var theirs = try etcdSample(generation: 2)
            theirs.tokens.accessToken = Secret("theirs")
            #expect(try await other.update(theirs, replacesOther: false).stored == nil)
            var mine = try etcdSample(generation: 2)
            mine.tokens.issuedAt = mine.tokens.issuedAt + .seconds(1000)
            #expect(try await store.update(mine, replacesOther: false).overtaker == Secret("theirs"))
            #expect(await faults.first { $0 == .leaseLost } == .leaseLost)
            #expect(try await other.load(Self.work)?.tokens.accessToken == Secret("theirs"))
        }
    }

    @Test("that were lost leave nothing to wait for once their result is known, even if another host's result counts")
    func overtakenResult() async throws {
        for isResult in [true, false] {
            try await together { store, other, members in
                let (lease, _) = try await hold(store)
                try await members.control("lease", "revoke", String(lease.number, radix: 16))
                // It was renewed without etcd.
                let theirs = try etcdSample(generation: 2)
                #expect(try await other.update(theirs, replacesOther: false).stored == nil)
                // A change of the user says nothing about the request.
                var mine = try etcdSample(generation: isResult ? 2 : 1)
                (mine.tokens.accessToken, mine.revision) = (Secret("mine"), isResult ? 1 : 2)
                #expect(try await store.update(mine, replacesOther: false).overtaker == theirs.tokens.accessToken)
                let outcome = try await hold(other, generation: 2).1
                #expect(outcome == .held(theirs, after: isResult ? .answered : .abandoned))
            }
        }
    }

    @Test("are not needed to replace another result of a renewal, but a higher generation is")
    func otherResult() async throws {
        try await together { store, other, _ in
            let theirs = try etcdSample(generation: 2)
            #expect(try await other.update(theirs, replacesOther: false).stored == nil)
            var mine = theirs
            (mine.tokens.accessToken, mine.corrections) = (Secret("mine"), 1)
            #expect(try await store.update(mine, replacesOther: false) == .refused(by: theirs))
            mine.raiseTokens(above: theirs)
            #expect(try await store.update(mine, replacesOther: false).stored == nil)
        }
    }

    @Test("that were lost let a host write its tokens if no other one was about to send them again")
    func lostAlone() async throws {
        for isWaitedFor in [false, true] {
            try await together { store, other, members in
                let (lease, _) = try await hold(store)
                try await members.control("lease", "revoke", String(lease.number, radix: 16))
                // It waits until the first one has had time to write.
                if isWaitedFor {
                    let sample = try etcdSample()
                    #expect(try await hold(other).1 == .held(sample, after: .abandoned))
                }
                #expect(try await store.update(etcdSample(generation: 2), replacesOther: false).stored == nil)
                #expect(try await other.load(Self.work)?.generation == 2)
                if isWaitedFor {
                    let renewed = try etcdSample(generation: 2)
                    #expect(try await other.claim(Self.work, for: etcdSample(generation: 1).version) == renewed)
                }
            }
        }
    }

    @Test("wait for a request that may be in progress, even if another host has written later tokens meanwhile")
    func overwritten() async throws {
        for isUnanswered in [false, true] {
            try await together { store, other, members in
                let (lease, _) = try await hold(store)
                if isUnanswered {
                    try await store.release(Self.work, leaving: .unanswered)
                } else {
                    try await members.control("lease", "revoke", String(lease.number, radix: 16))
                }
                // It was renewed without etcd.
                let renewed = try etcdSample(generation: 2)
                #expect(try await other.update(renewed, replacesOther: false).stored == nil)
                let outcome = try await hold(other, generation: 2).1
                #expect(outcome == .held(renewed, after: isUnanswered ? .answered : .abandoned))
            }
        }
    }

    @Test("that wait for another host's result find it when they ask again, and note their own intent then")
    func answeredLate() async throws {
        try await together { store, other, members in
            let (lease, _) = try await hold(store)
            try await members.control("lease", "revoke", String(lease.number, radix: 16))
            let (otherLease, outcome) = try await hold(other)
            let sample = try etcdSample()
            #expect(outcome == .held(sample, after: .abandoned))
            // Nothing has changed: the intent of the first one stays, and it may still write.
            let before = try await changes(members)
            #expect(before.count == 2)
            #expect(
                try await other.hold(Self.work, for: etcdSample(generation: 1).version, under: otherLease)
                    == .held(sample, after: .abandoned))
            #expect(try await changes(members) == before)
            _ = try await other.keepAlive(otherLease)
            #expect(try await store.update(etcdSample(generation: 2), replacesOther: false).stored == nil)
            #expect(try await changes(members) == [before[0]])
            _ = try await other.keepAlive(otherLease)
            let renewed = try etcdSample(generation: 2)
            #expect(
                try await other.hold(Self.work, for: etcdSample(generation: 2).version, under: otherLease)
                    == .held(renewed, after: .answered))
            let own = try await changes(members)
            #expect(own.count == 2 && own[0] != before[0] && own[0] == own[1])
            // The hold is a good one: it writes, and ends with that.
            #expect(try await other.update(etcdSample(generation: 3), replacesOther: false).stored == nil)
            #expect(try await changes(members).isEmpty)
        }
    }

    /// The last changes of the holder and the intent that are there.
    private func changes(_ members: EtcdMembers) async throws -> [Substring] {
        let found = try await [members.dump("/authd/ada/holders/"), members.dump("/authd/ada/intents/")]
        return found.flatMap { $0.split(separator: "\n").filter { $0.contains("ModRevision") } }
    }

    @Test("that were lost let a host write nothing once another one has claimed the session")
    func claimed() async throws {
        try await together { store, other, members in
            let (lease, _) = try await hold(store)
            try await members.control("lease", "revoke", String(lease.number, radix: 16))
            _ = try await hold(other)
            let sample = try etcdSample()
            #expect(try await other.claim(Self.work, for: etcdSample(generation: 1).version) == sample)
            let mine = try etcdSample(generation: 2)
            #expect(
                await store.fault { store throws(StoreError) in
                    _ = try await store.update(mine, replacesOther: false)
                } == .heldElsewhere)
            var theirs = try etcdSample(generation: 2)
            theirs.tokens.accessToken = Secret("theirs")
            #expect(try await other.update(theirs, replacesOther: false).stored == nil)
            // Even at a later attempt, with dates that were corrected since.
            var corrected = mine
            (corrected.corrections, corrected.tokens.issuedAt) = (1, mine.tokens.issuedAt + .seconds(100))
            #expect(try await store.update(corrected, replacesOther: false).overtaker == Secret("theirs"))
        }
    }

    @Test("that ended before anything was sent leave the next host nothing to wait for")
    func releasedLate() async throws {
        for end in [HoldOutcome.FormerHold.answered, .unanswered] {
            for isWaitedFor in [false, true] {
                try await together { store, other, members in
                    let sample = try etcdSample()
                    let (lease, _) = try await hold(store)
                    try await members.control("lease", "revoke", String(lease.number, radix: 16))
                    let others = try await other.grantLease().id
                    if isWaitedFor {
                        #expect(
                            try await other.hold(Self.work, for: sample.version, under: others)
                                == .held(sample, after: .abandoned))
                    }
                    try await store.release(Self.work, leaving: end)
                    #expect(
                        try await other.hold(Self.work, for: sample.version, under: others)
                            == .held(sample, after: end))
                }
            }
        }
    }

    @Test("that another host has claimed are not changed by a late release")
    func releasedAfterClaim() async throws {
        try await together { store, other, members in
            let sample = try etcdSample()
            let (lease, _) = try await hold(store)
            try await members.control("lease", "revoke", String(lease.number, radix: 16))
            let (others, _) = try await hold(other)
            _ = try await other.claim(Self.work, for: sample.version)
            let before = try await changes(members)
            #expect(before.count == 2)
            try await store.release(Self.work, leaving: .answered)
            #expect(try await changes(members) == before)
            try await members.control("lease", "revoke", String(others.number, radix: 16))
            #expect(try await hold(store).1 == .held(sample, after: .abandoned))
        }
    }

    @Test("are not ended by the release of an earlier hold under the same lease")
    func lateRelease() async throws {
        try await together { store, other, members in
            let lease = try await store.grantLease().id
            _ = try await store.hold(Self.work, for: etcdSample(generation: 1).version, under: lease)
            // As if the release were still on its way.
            try await members.control("del", "/authd/ada/holders/work")
            try await members.control("del", "/authd/ada/intents/work")
            let sample = try etcdSample()
            #expect(
                try await other.hold(Self.work, for: etcdSample(generation: 1).version, under: other.grantLease().id)
                    == .held(sample, after: .answered))
            try await store.release(Self.work, leaving: .answered)
            #expect(try await hold(store).1 == .heldElsewhere)
        }
    }

    @Test("write nothing of a session that another host has signed out of, and remove no sign-in that is new")
    func signedOut() async throws {
        try await together { store, other, members in
            _ = try await hold(store)
            try await other.delete(Self.work)
            let renewed = try etcdSample(generation: 2)
            #expect(
                await store.fault { store throws(StoreError) in
                    _ = try await store.update(renewed, replacesOther: false)
                } == .removed)
            #expect(try await other.load(Self.work) == nil)
            // A late sign-out of the former sign-in.
            try await store.save(etcdSample())
            _ = try await other.load(Self.work)
            var signIn = try etcdSample()
            signIn.signIn = try #require(SignInID("s2-1"))
            _ = try await store.update(signIn, replacesOther: true)
            try await other.delete(Self.work)
            #expect(try await store.load(Self.work)?.signIn == signIn.signIn)
            // Even after this host has read the new one.
            #expect(try await other.load(Self.work)?.signIn == signIn.signIn)
            #expect(try await other.delete(Self.work, of: etcdSample().signIn) == nil)
            #expect(try await store.load(Self.work)?.signIn == signIn.signIn)
        }
    }

    @Test("are known to nobody when a sign-out removes what another host has renewed: it is returned, to be revoked")
    func removed() async throws {
        try await together { store, other, members in
            let sample = try etcdSample()
            #expect(try await other.load(Self.work) == sample)
            _ = try await hold(store)
            let renewed = try etcdSample(generation: 2)
            #expect(try await store.update(renewed, replacesOther: false) == .written(endsHold: true))
            #expect(try await other.delete(Self.work, of: sample.signIn) == renewed)
            #expect(try await other.delete(Self.work, of: sample.signIn) == nil)
        }
    }

    @Test("of a sign-in that could not be written stay until its newer tokens are")
    func unwritten() async throws {
        try await together { store, other, members in
            func remove() async throws { try await members.control("del", "/authd/ada/sessions/work") }
            try await remove()
            #expect(try await hold(store).1 == .held(nil, after: .answered))
            // The first tokens are on their way to the provider.
            #expect(try await store.update(etcdSample(), replacesOther: true) == .written(endsHold: false))
            #expect(try await hold(other).1 == .heldElsewhere)
            try await remove()
            let renewed = try etcdSample(generation: 2)
            #expect(try await store.update(renewed, replacesOther: true) == .written(endsHold: true))
            let next = try await hold(other, generation: 2).1
            #expect(next == .held(renewed, after: .answered), "\(next)")
        }
    }
}

extension UpdateOutcome {
    /// The token of the host that has renewed instead.
    fileprivate var overtaker: Secret? {
        guard case .overtaken(let stored) = self else { return nil }
        return stored.tokens.accessToken
    }
}
