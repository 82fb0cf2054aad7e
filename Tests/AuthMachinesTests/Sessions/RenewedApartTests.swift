import AuthMachines
import AuthModel
import AuthWire
import Testing

/// If a renewal does not replace the refresh token, a host that cannot reach etcd renews by itself.
@Suite("A session that hosts have renewed independently")
struct RenewedApartTests {
    /// A host that has renewed: its token, of the second generation, is not written yet.
    private func renewed() throws -> MachineBench {
        var bench = MachineBench()
        bench.send(.shared(true))
        bench.advance(.seconds(1001))
        bench.tokenRequested(1)
        let grant = Grant(
            accessToken: Secret("ours"), issuedAt: bench.now.wall, expiresAt: bench.now.wall + .seconds(1000))
        bench.send(.requestEnded(try #require(bench.requestsInFlight.last), .success(grant), sentAt: bench.now))
        return bench
    }

    @Test(
        "continues with the stored token if its own has ended and that one has not, whatever the generations are",
        arguments: [1, 2, 7] as [UInt64], [true, false])
    func outlived(generation: UInt64, isValid: Bool) throws {
        var bench = try renewed()
        try bench.storeRefusesIt(.cluster(.unreachable(reason: "no route")))
        bench.advance(.seconds(1001))
        bench.tokenRequested(2)
        var theirs = MachineBench.record(
            token: "theirs", life: .seconds(1000), at: bench.elapsed - .seconds(isValid ? 500 : 1500),
            revision: generation)
        theirs.tokens.keepsRefreshToken = true
        bench.send(.storeChanged)
        bench.send(.compared(.success(theirs)))
        #expect(bench.token(for: 2) == (isValid ? "theirs" : nil))
        #expect(bench.machine.hasUnwrittenTokens == (!isValid && generation <= 2))
    }

    @Test("keeps its own token as long as that is valid, and writes it")
    func valid() throws {
        var bench = try renewed()
        bench.advance(.seconds(2))
        try bench.storeHolds(bench.machine.record)
        let written = try #require(bench.saves.last)
        #expect(written.tokens.accessToken == Secret("ours"))
        try bench.storeTakesIt()
        #expect(bench.token(for: 1) == "ours" && !bench.machine.hasUnwrittenTokens)
    }
}
