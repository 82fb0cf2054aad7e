import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@testable import AuthEtcd

/// A record lists the sign-ins before its own, for hosts that were started later.
@Suite("The former sign-ins that a record in etcd lists", .timeLimit(.minutes(2)))
struct FormerSignInTests {
    private let session: SessionName
    private let signIns: [SignInID]

    init() throws {
        session = try SessionName("work")
        signIns = try (1...12).map { try #require(SignInID("s\($0)-1")) }
    }

    private func header(_ revision: Int64) -> EtcdHeader { EtcdHeader(clusterID: "1", revision: revision) }

    @Test("are written and read, the last eight of them, and nothing if there are none")
    func content() {
        var object = JSONObject()
        FormerSignIns.add([], to: &object)
        #expect(object.isEmpty && FormerSignIns.list(in: nil).isEmpty)
        #expect(FormerSignIns.list(in: .object(object)).isEmpty)
        FormerSignIns.add(signIns, to: &object)
        #expect(FormerSignIns.list(in: .object(object)) == Array(signIns.suffix(8)))
        #expect(FormerSignIns.list(in: ["former_sign_ins": ["s1-1", 2, "/"]]) == [signIns[0]])
    }

    @Test("are those that a host has seen end, without the one of the record")
    func listed() {
        var view = ClusterView()
        for signIn in signIns.prefix(3) { view.saw(signIn, of: session) }
        #expect(view.signIns(before: signIns[3], of: session) == Array(signIns.prefix(3)))
        #expect(view.signIns(before: signIns[2], of: session) == Array(signIns.prefix(2)))
        view.removed(session)
        #expect(view.signIns(before: signIns[3], of: session) == Array(signIns.prefix(3)))
        // An import of an earlier one.
        #expect(view.signIns(before: signIns[0], of: session) == Array(signIns[1...2]))
    }

    @Test("are also those of the record that is replaced, even if this host has not read it or knows eight others")
    func replaced() throws {
        var view = ClusterView()
        let json: JSON = ["former_sign_ins": ["s1-1", "s2-1"]]
        var record = try etcdSample()
        record.signIn = signIns[2]
        let former = FormerSignIns(of: record, json)
        #expect(view.signIns(before: signIns[3], of: session, replacing: former) == Array(signIns.prefix(3)))
        #expect(view.signIns(before: signIns[2], of: session, replacing: former) == Array(signIns.prefix(2)))
        for signIn in signIns.dropFirst(3) { view.saw(signIn, of: session) }
        let next = try #require(SignInID("s13-1"))
        let listed = view.signIns(before: next, of: session, replacing: former)
        #expect(listed == Array(signIns.suffix(7)) + [signIns[2]])
        // The other sign-in is noted once it is replaced.
        view.saw(former, of: session)
        view.saw(next, of: session)
        #expect(view.signIns(before: next, of: session) == listed)
    }

    @Test("include one that this host replaces without having read it before, as when two hosts sign in at once")
    func atOnce() async throws {
        try await EtcdMembers.running { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            let records = try signIns.prefix(3).map { signIn in
                var record = try etcdSample()
                record.signIn = signIn
                return record
            }
            try await one.start(at: members.endpoints) { store in
                try await store.save(records[0])
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints, watches: false) { other in
                    let first = try await other.load(session)
                    try await store.save(records[1])
                    try await other.save(records[2])
                    let ended = await other.view.signIns(before: signIns[2], of: session)
                    #expect(first == records[0] && ended == Array(signIns.prefix(2)))
                }
            }
            // A host that was started later reads only the last record.
            try await two.start(at: members.endpoints, watches: false) { store in
                let found = try await store.load(session)
                let ended = await store.view.signIns(before: signIns[2], of: session)
                #expect(found == records[2] && ended == Array(signIns.prefix(2)))
            }
            // One that finds what it writes, as after a lost response, knows what that lists, too.
            try await two.start(at: members.endpoints, watches: false) { store in
                try await store.save(records[2])
                let ended = await store.view.signIns(before: signIns[2], of: session)
                #expect(ended == Array(signIns.prefix(2)))
            }
        }
    }

    @Test("have ended for a host that has only read the list, after a backup was restored")
    func restored() {
        var view = ClusterView()
        view.saw(signIns[1], of: session)
        view.saw(former: Array(signIns.prefix(2)), of: session)
        _ = view.read(header(9), [session: 9])
        #expect(!view.isOutdated(signIns[0], of: session) && !view.isSignedOut(session))
        _ = view.read(header(6), [session: 5])
        let isOutdated = signIns.prefix(3).map { view.isOutdated($0, of: session) }
        #expect(isOutdated == [true, false, false])
        view.lose(session)
        #expect(view.lost == [session])
    }

    @Test("do not displace those that a host has seen end")
    func limit() {
        var view = ClusterView()
        for signIn in signIns.suffix(4) { view.saw(signIn, of: session) }
        view.saw(former: Array(signIns.prefix(8)), of: session)
        #expect(view.signIns(before: signIns[11], of: session) == Array(signIns[3...10]))
    }

    @Test("are not served again by a host that was started after them, when a backup brings one back")
    func laterStart() async throws {
        try await EtcdMembers.running { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            var later = try etcdSample()
            later.signIn = try #require(SignInID("s2-1"))
            let backup = try await one.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                let backup = try await members.backUp()
                try await store.save(later)
                return backup
            }
            try await two.start(at: members.endpoints) { store in
                try await expectWrittenAgain(later, by: store, afterRestoring: backup, at: members)
            }
        }
    }
}
