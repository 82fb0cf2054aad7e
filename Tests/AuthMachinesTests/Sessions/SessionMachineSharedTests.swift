import AuthMachines
import AuthModel
import AuthWire
import Testing

/// The decisions of a session that shares another one's sign-in, and of the session that has it.
@Suite("Session machine: a shared sign-in")
struct SessionMachineSharedTests {
    private func target() throws -> TokenTarget {
        try #require(try TokenTarget(TokenGet(audience: "https://b.example/mcp")))
    }

    private func arrive(_ bench: inout MachineBench, _ token: String) throws {
        let grant = Grant(
            accessToken: Secret(token), issuedAt: bench.now.wall, expiresAt: bench.now.wall + .seconds(1000))
        bench.send(.requestEnded(try #require(bench.targetedRequests.last), .success(grant), sentAt: bench.now))
    }

    /// A session without its own refresh token.
    private func sharing() throws -> MachineBench {
        var bench = MachineBench()
        var record = MachineBench.otherSignIn(token: "shared-1", life: .seconds(1000), at: .zero)
        record.tokens.refreshToken = nil
        record.resource = ProtectedResource(
            url: "https://b.example/mcp", identifier: "https://b.example/mcp", issuer: "https://as.example")
        record.resource?.sharedSession = try SessionName("a.example")
        bench.send(.replaced(record, sentAt: bench.now))
        try bench.storeTakesIt()
        return bench
    }

    @Test("a new token is requested although one is known, once for all who wait, and is then returned from memory")
    func new() throws {
        var bench = MachineBench()
        let target = try target()
        bench.send(.targetedTokenRequested(CallerID(1), target, minValid: nil, isNew: true))
        try arrive(&bench, "b-1")
        #expect(bench.token(for: 1) == "b-1")
        bench.send(.targetedTokenRequested(CallerID(2), target, minValid: nil, isNew: true))
        bench.send(.targetedTokenRequested(CallerID(3), target, minValid: nil, isNew: true))
        #expect(bench.targetedRequests.count == 2)
        try arrive(&bench, "b-2")
        #expect(bench.token(for: 2) == "b-2" && bench.token(for: 3) == "b-2")
        bench.send(.targetedTokenRequested(CallerID(4), target, minValid: nil))
        #expect(bench.token(for: 4) == "b-2" && bench.targetedRequests.count == 2)
    }

    @Test(
        "without the sign-in, the token is returned to its end, and then the cause names the session with the sign-in")
    func ended() throws {
        var bench = try sharing()
        #expect(bench.snapshot?.status.sharedSession?.text == "a.example")
        bench.send(.renewable(.none))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "shared-1")
        #expect(bench.snapshot?.status.state == .active && bench.snapshot?.status.renews == false)
        bench.advance(.seconds(1001))
        bench.tokenRequested(2)
        let error = try #require(bench.failure(for: 2))
        #expect(error.kind == .signInRequired && error.cause == "shared_sign_in" && error.message.contains("a.example"))
        #expect(bench.snapshot?.status.state == .signInRequired && bench.requestsInFlight.isEmpty)
    }

    @Test("when the sign-in is back, the session is renewed without a request")
    func back() throws {
        var bench = try sharing()
        bench.send(.renewable(.none))
        bench.advance(.seconds(1001))
        bench.send(.wake)
        #expect(bench.snapshot?.status.state == .signInRequired)
        bench.send(.renewable(.lasting))
        while bench.requestsInFlight.isEmpty { _ = try bench.sleepUntilWake() }
        try bench.provider(gives: "shared-2")
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.state == .active)
    }
}
