import AuthModel
import AuthSealedFile
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@testable import AuthEtcd

/// A host that was removed after the backup is a member again after the restore, until another host puts its list back.
@Suite("A session that a removed host writes to a restored backup", .timeLimit(.minutes(2)))
struct FormerMemberTests {
    private static var work: SessionName {
        get throws { try SessionName("work") }
    }

    /// - Parameters:
    ///   - record: what the removed host writes, before the other one reaches etcd.
    ///   - isSignedOut: whether the other host has signed out since the backup. Otherwise it has renewed the session.
    ///   - isLate: whether etcd has passed the revision at which the removed host's key was given up in the former history.
    ///   - body: runs when that host has put the list of hosts back.
    private func restored(
        writing record: SessionRecord, isSignedOut: Bool = false, isLate: Bool,
        _ body: (EtcdStore, EtcdMembers) async throws -> Void
    ) async throws {
        try await EtcdMembers.running { members in
            let (one, two) = (try EtcdHost("one"), try EtcdHost("two"))
            try await one.start(at: members.endpoints) { store in
                try await store.save(etcdSample())
                try await admit(two, by: store, at: members)
                try await members.copy("/authd/ada/sessions/work", to: "/authd/ada/kept")
                try await two.start(at: members.endpoints, watches: false) { other in
                    // It reads nothing after the backup.
                    _ = try await other.load(Self.work)
                    let backup = try await members.backUp()
                    let removed = try #require(try await store.members().first { $0.name == "two" })
                    try await store.remove(removed)
                    try await store.endKeyChange()
                    try await store.save(etcdSample(generation: 3))
                    if isSignedOut { try await store.delete(Self.work) }
                    try await store.saveLater()
                    try await one.losses.losing(.calls) {
                        try await members.restore(backup)
                        for _ in 1...5 where isLate { try await members.control("put", "/authd/ada/test", "x") }
                        #expect(try await other.update(record, replacesOther: true).stored == nil)
                    }
                    try #require(try await until { await store.hasRecovered })
                    try await body(store, members)
                }
            }
        }
    }

    @Test(
        "is written again by a host that has it, whichever tokens are newer",
        arguments: [2, 4] as [UInt64], [true, false])
    func replaced(generation: UInt64, isLate: Bool) async throws {
        try await restored(writing: etcdSample(generation: generation), isLate: isLate) { store, members in
            let (found, isLost) = (try await store.load(Self.work), try await store.hasLost(Self.work))
            #expect(found == nil && isLost)
            let own = try etcdSample(generation: 3)
            #expect(try await store.update(own, replacesOther: false).stored == nil)
            let (stored, isStillLost) = (try await store.load(Self.work), try await store.hasLost(Self.work))
            #expect(stored == own && !isStillLost)
            let entry = try await #require(store.read(store.places.session(Self.work)))
            let newest = try await store.opened().accepted.roster.keyIDs.first
            #expect(try SealedBytes.hex(SealedBytes.header(of: entry.value).keyID) == newest)
            // With access to etcd, the removed host can write it once more. Then it is not replaced again.
            try await members.copy("/authd/ada/kept", to: "/authd/ada/sessions/work")
            await #expect(throws: StoreError.self) { try await store.load(Self.work) }
        }
    }

    @Test("is removed again by a host that knows of its sign-out", arguments: [true, false])
    func signedOut(isLate: Bool) async throws {
        try await restored(
            writing: etcdSample(generation: 2), isSignedOut: true, isLate: isLate
        ) { store, members in
            let isGone = try await until {
                try await !members.dump("/authd/ada/sessions/").contains("sessions/work")
            }
            let found = try await store.load(Self.work)
            #expect(isGone && found == nil)
        }
    }

    @Test(
        "stays damaged if it is of another sign-in: a member that has run alone may have written it",
        arguments: [true, false])
    func unknownSignIn(isLate: Bool) async throws {
        var record = try etcdSample(generation: 2)
        record.signIn = try #require(SignInID("s9-1"))
        try await restored(writing: record, isLate: isLate) { store, _ in
            await #expect(throws: StoreError.self) { try await store.load(Self.work) }
            let hasLost = try await store.hasLost(Self.work)
            #expect(!hasLost)
        }
    }
}

extension EtcdStore {
    /// It has noticed a restore, and has put back what is newer.
    fileprivate var hasRecovered: Bool { restores.noticedAt != nil && restores.recovery == nil && !mustReadAgain }
}
