import AuthEtcd
import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

/// Hosts whose dates are wrong by ten minutes.
@Suite("Lifetimes of tokens between hosts", .timeLimit(.minutes(2)))
struct SharedLifetimeTests {
    private static let error = Duration.seconds(600)

    private static func sample(life: Duration, from issuedAt: WallTime, generation: UInt64 = 1) throws -> SessionRecord
    {
        var record = try etcdSample(generation: generation)
        (record.tokens.issuedAt, record.tokens.expiresAt) = (issuedAt, issuedAt + life)
        record.tokens.refreshLife = TokenLife(issuedAt: issuedAt, expiresAt: issuedAt + .seconds(86_400))
        return record
    }

    private func isNear(_ date: WallTime?, _ other: WallTime) -> Bool {
        date.map { abs(($0 - other).seconds) < 5 } ?? false
    }

    @Test("are what is left of them, by the clock of the host that reads", arguments: [error, .zero - error])
    func live(error: Duration) async throws {
        try await EtcdMembers.running { members in
            let one = try EtcdHost("one")
            var two = try EtcdHost("two")
            two.clockError = error
            let (here, there) = (HostClock(), HostClock(error: error))
            let name = try SessionName("work")
            try await one.start(at: members.endpoints) { store in
                let issuedAt = there.now().wall
                let first = try Self.sample(life: .seconds(3600), from: here.now().wall)
                try await store.save(first)
                try await admit(two, by: store, at: members)
                try await two.start(at: members.endpoints) { other in
                    // Written before this host started: etcd knows how much is left.
                    let read = try #require(try await other.load(name)).tokens
                    #expect(isNear(read.expiresAt, issuedAt + .seconds(3600)), "\(read)")
                    #expect(isNear(read.issuedAt, issuedAt))
                    #expect(isNear(read.refreshLife?.expiresAt, issuedAt + .seconds(86_400)))
                    // The same dates at each look, and the record counts as the same one.
                    #expect(try await other.load(name)?.tokens == read)
                    // Written meanwhile, and reported.
                    let (half, renewedAt) = (here.now().wall + .seconds(-1800), there.now().wall + .seconds(-1800))
                    let second = try Self.sample(life: .seconds(3600), from: half, generation: 2)
                    #expect(try await store.update(second, replacesOther: false).stored == nil)
                    #expect(await other.changes().first { _ in true } == name)
                    let renewed = try #require(try await other.load(name))
                    #expect(renewed.generation == 2)
                    #expect(isNear(renewed.tokens.expiresAt, renewedAt + .seconds(3600)))
                    #expect(isNear(renewed.tokens.issuedAt, renewedAt))
                    // A change of the user there leaves the dates here.
                    var changed = renewed
                    (changed.user, changed.revision) = (UserSummary(email: "grace@example.org"), 2)
                    #expect(try await other.update(changed, replacesOther: false).stored == nil)
                    let back = try #require(try await store.load(name))
                    #expect(back.user?.email == "grace@example.org" && back.tokens == second.tokens)
                }
            }
        }
    }

    @Test("are over for a host that starts after the token's end, however slow its clock is")
    func over() async throws {
        try await EtcdMembers.running { members in
            let one = try EtcdHost("one")
            var two = try EtcdHost("two")
            two.clockError = .zero - Self.error
            let name = try SessionName("work")
            try await one.start(at: members.endpoints) { store in
                try await store.save(try Self.sample(life: .seconds(1), from: HostClock().now().wall))
                try await admit(two, by: store, at: members)
                #expect(try await until { try await !members.dump("/authd/ada/lifetimes/").contains("work") })
            }
            try await two.start(at: members.endpoints, watches: false) { other in
                let read = try #require(try await other.load(name))
                let now = HostClock(error: two.clockError).now().wall
                #expect(try #require(read.tokens.expiresAt) <= now)
            }
        }
    }
}
