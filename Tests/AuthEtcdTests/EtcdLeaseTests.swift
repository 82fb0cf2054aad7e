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

    /// Two hosts of one cluster, with the sample in it.
    private func together(
        clockError: Duration = .zero, _ body: (EtcdStore, EtcdStore, EtcdMembers) async throws -> Void
    ) async throws {
        try await EtcdMembers.running { members in
            let one = try EtcdHost("one")
            var two = try EtcdHost("two")
            two.clockError = clockError
            try await one.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints) { other in
                    #expect(await other.states().first { $0 == .ready } == .ready)
                    _ = try await other.load(Self.work)
                    try await body(store, other, members)
                }
            }
        }
    }

    private func hold(_ store: EtcdStore, generation: UInt64 = 1) async throws -> (LeaseID, HoldOutcome) {
        let lease = try await store.grantLease()
        #expect(lease.lasts == .seconds(10))
        return (lease.id, try await store.hold(Self.work, generation: generation, under: lease.id))
    }

    @Test("belong to one host at a time, and end with the write of newer tokens")
    func written() async throws {
        try await together { store, other, members in
            let (_, outcome) = try await hold(store)
            let sample = try etcdSample()
            #expect(outcome == .held(sample, after: .answered))
            #expect(try await hold(other).1 == .taken)
            #expect(try await store.update(etcdSample(generation: 2), replacesOther: false) == nil)
            let freed = await other.freed().first { _ in true }
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
            let (first, _) = try await hold(store)
            try await store.release(Self.work, from: first, isAnswered: true)
            let (second, afterAnswer) = try await hold(other)
            #expect(afterAnswer == .held(sample, after: .answered))
            try await other.release(Self.work, from: second, isAnswered: false)
            let (third, afterNone) = try await hold(store)
            #expect(afterNone == .held(sample, after: .unanswered))
            // A lease that ends, as with its host.
            try await members.control("lease", "revoke", String(third.number, radix: 16))
            #expect(try await hold(other).1 == .held(sample, after: .abandoned))
            // Newer tokens, and nothing was left behind for them.
            #expect(try await other.update(etcdSample(generation: 2), replacesOther: false) == nil)
            #expect(try await hold(store, generation: 2).1 == .held(etcdSample(generation: 2), after: .answered))
        }
    }

    @Test("end with their lease after ten seconds without a sign of life, and not as long as it is kept")
    func ends() async throws {
        try await together { store, other, members in
            let (lease, _) = try await hold(store)
            #expect(try await store.keep(lease) == .seconds(10))
            #expect(try await hold(other).1 == .taken)
            // The deletion by etcd itself is reported.
            let freed = await other.freed().first { _ in true }
            #expect(try freed == Self.work)
            #expect(try await store.keep(lease) == nil)
            let home = try SessionName("home")
            #expect(
                await store.fault { store throws(StoreError) in
                    _ = try await store.hold(home, generation: 1, under: lease)
                } == .leaseLost)
        }
    }

    @Test("keep tokens of others out, and nothing else")
    func keepsOut() async throws {
        try await together { store, other, members in
            let (lease, _) = try await hold(store)
            // A change of the user.
            var changed = try etcdSample()
            (changed.user, changed.revision) = (UserSummary(email: "grace@example.org"), 2)
            #expect(try await other.update(changed, replacesOther: false) == nil)
            // Tokens that were renewed without etcd wait, and are refused.
            var renewed = changed
            renewed.generation = 2
            let theirs = renewed
            #expect(
                await other.fault { store throws(StoreError) in
                    _ = try await store.update(theirs, replacesOther: false)
                } == .heldElsewhere)
            // The holder finds the change, and its tokens are written with it.
            renewed = try etcdSample(generation: 2)
            let stored = try #require(try await store.update(renewed, replacesOther: false))
            #expect(stored.revision == 2 && stored.generation == 1)
            #expect(await !store.wasOvertaken(try Self.work))
            #expect(try await store.update(renewed.merged(with: stored), replacesOther: false) == nil)
            #expect(try await other.load(Self.work)?.user?.email == "grace@example.org")
            // Another sign-in is the user's wish.
            let (_, outcome) = try await hold(store, generation: 2)
            #expect(outcome != .taken)
            var signIn = try etcdSample(generation: 3)
            signIn.signIn = try #require(SignInID("s2-1"))
            #expect(try await other.update(signIn, replacesOther: true) == nil)
            _ = lease
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
            #expect(try await other.update(theirs, replacesOther: false) == nil)
            var mine = try etcdSample(generation: 2)
            mine.tokens.issuedAt = mine.tokens.issuedAt + .seconds(1000)
            #expect(try await store.update(mine, replacesOther: false)?.tokens.accessToken == Secret("theirs"))
            #expect(await store.wasOvertaken(try Self.work))
            #expect(await faults.first { $0 == .leaseLost } == .leaseLost)
            #expect(try await other.load(Self.work)?.tokens.accessToken == Secret("theirs"))
        }
    }

    @Test("that were lost leave what they brought, if nobody has renewed since")
    func lostAlone() async throws {
        try await together { store, other, members in
            let (lease, _) = try await hold(store)
            try await members.control("lease", "revoke", String(lease.number, radix: 16))
            #expect(try await store.update(etcdSample(generation: 2), replacesOther: false) == nil)
            #expect(try await other.load(Self.work)?.generation == 2)
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
            _ = try await store.update(etcdSample(), replacesOther: true)
            _ = try await other.load(Self.work)
            var signIn = try etcdSample()
            signIn.signIn = try #require(SignInID("s2-1"))
            _ = try await store.update(signIn, replacesOther: true)
            try await other.delete(Self.work)
            #expect(try await store.load(Self.work)?.signIn == signIn.signIn)
        }
    }
}
