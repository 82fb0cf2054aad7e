import AuthEtcd
import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@Suite("Holds in etcd, if responses are lost", .timeLimit(.minutes(2)))
struct LostResponseTests {
    private static var work: SessionName {
        get throws { try SessionName("work") }
    }

    private func together(_ body: (EtcdStore, Losses, EtcdStore, EtcdMembers) async throws -> Void) async throws {
        try await TwoHosts.running { try await body($0.store, $0.losses, $0.other, $0.members) }
    }

    private func end(_ lease: LeaseID, _ members: EtcdMembers) async throws {
        try await members.control("lease", "revoke", String(lease.number, radix: 16))
    }

    @Test("a hold that was carried out, and of which this host knows nothing, does not make it wait for itself")
    func hold() async throws {
        try await together { store, losses, other, members in
            let sample = try etcdSample()
            let lease = try await store.grantLease().id
            let lost = await losses.losing(.responses) {
                await store.fault { store throws(StoreError) in
                    _ = try await store.hold(sample.session, for: sample.version, under: lease)
                }
            }
            #expect(lost?.isConnection == true)
            #expect(try await members.dump("/authd/ada/holders/").contains("holders/work"))
            // Its lease may still be good, or have ended.
            #expect(
                try await store.hold(Self.work, for: sample.version, under: lease) == .held(sample, after: .answered))
            try await store.release(Self.work, leaving: .answered)
            _ = await losses.losing(.responses) {
                await store.fault { store throws(StoreError) in
                    _ = try await store.hold(sample.session, for: sample.version, under: lease)
                }
            }
            try await end(lease, members)
            let next = try await store.grantLease().id
            #expect(
                try await store.hold(Self.work, for: sample.version, under: next) == .held(sample, after: .answered))
            // Others do not know that nothing was sent.
            try await end(next, members)
            let others = try await other.grantLease().id
            #expect(
                try await other.hold(Self.work, for: sample.version, under: others) == .held(sample, after: .abandoned))
        }
    }

    @Test("a claim that was carried out leaves the tokens in doubt, and this host does not wait for itself")
    func claim() async throws {
        try await together { store, losses, other, members in
            let sample = try etcdSample()
            let others = try await other.grantLease().id
            _ = try await other.hold(Self.work, for: sample.version, under: others)
            try await end(others, members)
            let lease = try await store.grantLease().id
            #expect(
                try await store.hold(Self.work, for: sample.version, under: lease) == .held(sample, after: .abandoned))
            let lost = await losses.losing(.responses) {
                await store.fault { store throws(StoreError) in
                    _ = try await store.claim(sample.session, for: sample.version)
                }
            }
            #expect(lost?.isConnection == true)
            try await end(lease, members)
            let next = try await store.grantLease().id
            #expect(
                try await store.hold(Self.work, for: sample.version, under: next) == .held(sample, after: .unanswered))
        }
    }

    @Test("a release that is lost does not hide that the last request had no answer")
    func release() async throws {
        try await together { store, losses, _, members in
            let sample = try etcdSample()
            let lease = try await store.grantLease().id
            _ = try await store.hold(Self.work, for: sample.version, under: lease)
            let lost = await losses.losing(.calls) {
                await store.fault { store throws(StoreError) in
                    try await store.release(sample.session, leaving: .unanswered)
                }
            }
            #expect(lost?.isConnection == true)
            // Under the same lease, which others' holds may have kept, and under another one.
            #expect(
                try await store.hold(Self.work, for: sample.version, under: lease) == .held(sample, after: .unanswered))
            try await end(lease, members)
            let next = try await store.grantLease().id
            #expect(
                try await store.hold(Self.work, for: sample.version, under: next) == .held(sample, after: .unanswered))
        }
    }

    @Test("a release that is lost is repeated, so that others need not wait for a request that was not sent")
    func repeated() async throws {
        try await EtcdMembers.running { members in
            var one = try EtcdHost("one")
            one.checkInterval = .milliseconds(100)
            let two = try EtcdHost("two")
            try await one.start(at: members.endpoints) { store in
                let sample = try etcdSample()
                try await store.save(sample)
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints) { other in
                    let lease = try await store.grantLease().id
                    _ = try await store.hold(Self.work, for: sample.version, under: lease)
                    let lost = await one.losses.losing(.calls) {
                        await store.fault { store throws(StoreError) in
                            try await store.release(sample.session, leaving: .answered)
                        }
                    }
                    #expect(lost?.isConnection == true)
                    // As after a time without etcd, which has ended the lease.
                    try await end(lease, members)
                    let isGone = try await until {
                        try await !members.dump("/authd/ada/intents/").contains("intents/work")
                    }
                    #expect(isGone)
                    let others = try await other.grantLease().id
                    #expect(
                        try await other.hold(Self.work, for: sample.version, under: others)
                            == .held(sample, after: .answered))
                }
            }
        }
    }

    @Test("a damaged record does not keep a hold whose response was lost")
    func damaged() async throws {
        try await together { store, losses, _, members in
            let sample = try etcdSample()
            let lease = try await store.grantLease().id
            _ = await losses.losing(.responses) {
                await store.fault { store throws(StoreError) in
                    _ = try await store.hold(sample.session, for: sample.version, under: lease)
                }
            }
            try await members.control("put", "/authd/ada/sessions/work", "damaged")
            await #expect(throws: StoreError.self) {
                try await store.hold(Self.work, for: sample.version, under: lease)
            }
            #expect(try await !members.dump("/authd/ada/holders/").contains("holders/work"))
        }
    }

    @Test("a change of the user is not refused as a lost hold while the result of another host is awaited")
    func userChange() async throws {
        try await together { store, _, other, members in
            let sample = try etcdSample()
            let lease = try await store.grantLease().id
            _ = try await store.hold(Self.work, for: sample.version, under: lease)
            try await end(lease, members)
            let others = try await other.grantLease().id
            #expect(
                try await other.hold(Self.work, for: sample.version, under: others) == .held(sample, after: .abandoned))
            let renewed = try etcdSample(generation: 2)
            #expect(try await store.update(renewed, replacesOther: false).stored == nil)
            var changed = sample
            (changed.user, changed.revision) = (UserSummary(email: "grace@example.org"), 2)
            #expect(try await other.update(changed, replacesOther: false) == .refused(by: renewed))
        }
    }

    @Test("the intent of a sign-in that is not written yet names that sign-in")
    func newSignIn() async throws {
        try await together { store, _, other, members in
            var signIn = try etcdSample()
            signIn.signIn = try #require(SignInID("s2-1"))
            let lease = try await store.grantLease().id
            // The record of the former sign-in is there.
            let outcome = try await store.hold(Self.work, for: signIn.version, under: lease)
            #expect(try outcome == .held(etcdSample(), after: .answered))
            // The write arrives late.
            #expect(try await store.update(signIn, replacesOther: true).stored == nil)
            try await end(lease, members)
            let others = try await other.grantLease().id
            let next = try await other.hold(Self.work, for: signIn.version, under: others)
            #expect(next == .held(signIn, after: .abandoned))
        }
    }

    @Test("a write of the tokens that are being sent keeps the hold, and they are in doubt if there is no response")
    func writtenMeanwhile() async throws {
        try await together { store, _, other, _ in
            let renewed = try etcdSample(generation: 2)
            let lease = try await store.grantLease().id
            _ = try await store.hold(Self.work, for: renewed.version, under: lease)
            #expect(try await store.update(renewed, replacesOther: false) == .written(endsHold: false))
            let others = try await other.grantLease().id
            #expect(try await other.hold(Self.work, for: renewed.version, under: others) == .heldElsewhere)
            try await store.release(Self.work, leaving: .unanswered)
            let next = try await other.hold(Self.work, for: renewed.version, under: others)
            #expect(next == .held(renewed, after: .unanswered))
        }
    }

    @Test("another host's sign-in refuses the tokens of the former one, and no hold counts as lost")
    func signInElsewhere() async throws {
        try await together { store, _, other, members in
            let sample = try etcdSample()
            let lease = try await store.grantLease().id
            _ = try await store.hold(Self.work, for: sample.version, under: lease)
            var signIn = sample
            signIn.signIn = try #require(SignInID("s2-1"))
            #expect(try await other.update(signIn, replacesOther: true).stored == nil)
            let renewed = try etcdSample(generation: 2)
            #expect(try await store.update(renewed, replacesOther: false) == .refused(by: signIn))
            try await store.release(Self.work, leaving: .answered)
            #expect(try await !members.dump("/authd/ada/holders/").contains("holders/work"))
        }
    }
}
