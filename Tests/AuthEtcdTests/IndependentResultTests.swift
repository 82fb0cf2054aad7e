import AuthEtcd
import AuthModel
import AuthWire
import EtcdTestSupport
import TestSupport
import Testing

@Suite("Tokens of hosts that have renewed independently", .timeLimit(.minutes(1)))
struct IndependentResultTests {
    private func result(_ token: String, from issuedAt: WallTime, generation: UInt64) throws -> SessionRecord {
        var record = try etcdSample(generation: generation)
        record.tokens.accessToken = Secret(token)
        (record.tokens.refreshToken, record.tokens.keepsRefreshToken) = (Secret("refresh"), true)
        (record.tokens.issuedAt, record.tokens.expiresAt) = (issuedAt, issuedAt + .seconds(3600))
        return record
    }

    @Test("are not replaced with one that has ended while they are valid, whatever generations and clocks show")
    func ended() async throws {
        let error = Duration.seconds(600)
        try await TwoHosts.running(clockError: error) { hosts in
            let (here, there) = (HostClock(), HostClock(error: error))
            let theirs = try result("theirs", from: there.now().wall + .seconds(-1800), generation: 2)
            #expect(try await hosts.other.update(theirs, replacesOther: false).stored == nil)
            let ended = try result("mine", from: here.now().wall + .seconds(-3660), generation: 7)
            let refusal = try await hosts.store.update(ended, replacesOther: false)
            #expect(refusal.stored?.tokens.accessToken == Secret("theirs"))
            let valid = try result("mine", from: here.now().wall + .seconds(-3000), generation: 7)
            #expect(try await hosts.store.update(valid, replacesOther: false).stored == nil)
        }
    }

    @Test("are replaced with a later one if their end is unknown, or if the refresh token was replaced")
    func others() async throws {
        try await TwoHosts.running { hosts in
            let now = HostClock().now().wall
            var theirs = try result("theirs", from: now, generation: 2)
            theirs.tokens.expiresAt = nil
            #expect(try await hosts.other.update(theirs, replacesOther: false).stored == nil)
            var mine = try result("mine", from: now + .seconds(-3660), generation: 3)
            mine.tokens.expiresAt = nil
            #expect(try await hosts.store.update(mine, replacesOther: false).stored == nil)
            var rotated = try result("rotated", from: now + .seconds(-3660), generation: 4)
            rotated.tokens.refreshToken = Secret("next refresh")
            #expect(try await hosts.other.update(rotated, replacesOther: false).stored == nil)
        }
    }
}
