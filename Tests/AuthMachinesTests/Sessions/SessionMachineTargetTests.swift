import AuthMachines
import AuthModel
import AuthWire
import Testing

/// Tokens for targets: each is a request with the session's one refresh token.
@Suite("Session machine: tokens for one scope or audience")
struct SessionMachineTargetTests {
    private static func target(_ scopes: [String]? = ["read"], _ audience: String? = nil) throws -> TokenTarget {
        try #require(try TokenTarget(TokenGet(scopes: scopes, audience: audience)))
    }

    private func want(_ bench: inout MachineBench, _ caller: UInt64, _ target: TokenTarget, minValid: Duration? = nil) {
        bench.send(.targetedTokenRequested(CallerID(caller), target, minValid: minValid))
    }

    private func arrive(
        _ bench: inout MachineBench, _ token: String, refresh: String? = nil, scopes: [String]? = nil
    ) throws {
        var grant = Grant(
            accessToken: Secret(token), refreshToken: refresh.map { Secret($0) }, issuedAt: bench.now.wall,
            expiresAt: bench.now.wall + .seconds(1000))
        grant.scopes = scopes
        bench.send(.requestEnded(try #require(bench.targetedRequests.last), .success(grant), sentAt: bench.now))
    }

    @Test("equal scopes and audiences are the same target, and without any there is no target")
    func targets() throws {
        #expect(try Self.target(["b", "a", "b"]) == Self.target(["a", "b"]))
        let none = try TokenTarget(TokenGet())
        #expect(none == nil)
        for bad in [["a b"], [""], ["\"x"]] {
            #expect(throws: AgentError.self) { () throws in _ = try TokenTarget(TokenGet(scopes: bad)) }
        }
        #expect(throws: AgentError.self) { () throws in _ = try TokenTarget(TokenGet(audience: "a b")) }
    }

    @Test("it is fetched once for all callers, kept beside the session's own, and then returned from memory")
    func once() throws {
        var bench = MachineBench()
        let target = try Self.target()
        want(&bench, 1, target)
        want(&bench, 2, target)
        #expect(bench.targetedRequests.count == 1)
        try arrive(&bench, "read-1")
        #expect(bench.token(for: 1) == "read-1")
        #expect(bench.token(for: 2) == "read-1")
        want(&bench, 3, target)
        #expect(bench.token(for: 3) == "read-1")
        #expect(bench.targetedRequests.count == 1)
        bench.tokenRequested(4)
        #expect(bench.token(for: 4) == "token-1")
        // Towards its end another is fetched.
        bench.advance(.seconds(995))
        want(&bench, 5, target)
        #expect(bench.requestsInFlight.count + bench.targetedRequests.count >= 2)
    }

    @Test("a refresh token that came with it is in the store before any caller gets the token")
    func rotation() throws {
        var bench = MachineBench()
        let target = try Self.target()
        want(&bench, 1, target)
        try arrive(&bench, "read-1", refresh: "refresh-2")
        #expect(bench.answer(to: 1) == nil)
        want(&bench, 2, target)
        #expect(bench.answer(to: 2) == nil)
        #expect(bench.saves.last?.tokens.refreshToken?.reveal() == "refresh-2")
        #expect(bench.saves.last?.tokens.accessToken.reveal() == "token-1")
        try bench.storeTakesIt()
        #expect(bench.token(for: 1) == "read-1")
        #expect(bench.token(for: 2) == "read-1")
        bench.send(.renewalRequested(CallerID(3)))
        #expect(bench.renewals.last?.tokens.refreshToken?.reveal() == "refresh-2")
    }

    @Test("a refresh token is kept that comes after the session has replaced another sign-in in the store")
    func replacedSignIn() throws {
        var bench = MachineBench()
        let target = try Self.target()
        want(&bench, 1, target)
        try arrive(&bench, "read-1")
        let new = MachineBench.otherSignIn(token: "new", life: .seconds(1000), at: bench.elapsed)
        bench.send(.replaced(new, sentAt: bench.now, revokesFormer: false))
        want(&bench, 2, target)
        #expect(bench.targetedRequests.count == 2)
        var theirs = MachineBench.otherSignIn(token: "theirs", life: .seconds(1000), at: bench.elapsed)
        (theirs.generation, theirs.revision) = (4, 2)
        try bench.storeHolds(theirs)
        try bench.storeTakesIt()
        try arrive(&bench, "read-2", refresh: "refresh-2")
        #expect(bench.answer(to: 2) == nil)
        #expect(bench.saves.last?.tokens.refreshToken?.reveal() == "refresh-2")
        try bench.storeTakesIt()
        #expect(bench.token(for: 2) == "read-2")
    }

    @Test("no caller waits for several tries at a provider that does not respond")
    func silentProvider() throws {
        var bench = MachineBench()
        want(&bench, 1, try Self.target())
        want(&bench, 2, try Self.target(["write"]))
        bench.send(.requestEnded(try #require(bench.targetedRequests.last), .failure(.unreachable), sentAt: bench.now))
        #expect(bench.failure(for: 1)?.kind == .providerUnreachable)
        #expect(bench.failure(for: 2)?.kind == .providerUnreachable)
        #expect(bench.targetedRequests.count == 1)
    }

    @Test("a caller of the session's own renewal does not wait for a second response that does not come")
    func silentForRenewal() throws {
        var bench = MachineBench()
        want(&bench, 1, try Self.target())
        bench.send(.renewalRequested(CallerID(2)))
        let failure = ProviderFailure.temporary(AgentError(.timeout, "no answer"), retryAfter: nil)
        bench.send(.requestEnded(try #require(bench.targetedRequests.last), .failure(failure), sentAt: bench.now))
        #expect(bench.failure(for: 1)?.kind == .timeout)
        #expect(bench.failure(for: 2)?.kind == .timeout)
        #expect(bench.renewals.isEmpty)
    }

    @Test("a token that ends before the store has replied is not returned, and the refresh token is kept")
    func endedOnArrival() throws {
        var bench = MachineBench()
        want(&bench, 1, try Self.target())
        try arrive(&bench, "read-1", refresh: "refresh-2")
        bench.advance(.seconds(1001))
        try bench.storeTakesIt()
        #expect(bench.failure(for: 1)?.cause == "ended_on_arrival")
        #expect(bench.handedOver?.record.tokens.refreshToken == Secret("refresh-2"))
    }

    @Test(
        "the session's own token is renewed before it is returned, once a token for a scope rotated the refresh token")
    func suspect() throws {
        var bench = MachineBench()
        want(&bench, 1, try Self.target())
        try arrive(&bench, "read-1", refresh: "refresh-2")
        try bench.storeTakesIt()
        #expect(try #require(bench.snapshot).token != nil)
        #expect(LiveToken(try #require(bench.snapshot)) == nil)
        bench.tokenRequested(2)
        #expect(bench.answer(to: 2) == nil)
        #expect(bench.renewals.last?.tokens.isSuspect == true)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.token(for: 2) == "token-2")
        // Both are in memory now: neither program costs the other one a renewal.
        want(&bench, 3, try Self.target())
        bench.tokenRequested(4)
        #expect(bench.token(for: 3) == "read-1")
        #expect(bench.token(for: 4) == "token-2")
        #expect(bench.requestsInFlight.count == 1 && bench.targetedRequests.count == 1)
    }

    @Test("a suspect token is still returned if it cannot be renewed, and is renewed soon if it is rejected")
    func suspectWithoutProvider() throws {
        var bench = MachineBench()
        want(&bench, 1, try Self.target())
        try arrive(&bench, "read-1", refresh: "refresh-2")
        try bench.storeTakesIt()
        bench.send(.networkChanged(.offline))
        bench.tokenRequested(2)
        #expect(bench.token(for: 2) == "token-1")
        bench.send(.networkChanged(.online))
        // Its age is no reason to keep it.
        bench.send(.rejected(CallerID(3), Secret("token-1")))
        #expect(bench.requestsInFlight.count == 1)
        try bench.provider(fails: .temporary(AgentError(.providerUnreachable, "no"), retryAfter: nil))
        bench.tokenRequested(4)
        #expect(bench.failure(for: 4) != nil)
    }

    @Test("what an earlier run had made suspect is still suspect after a start")
    func suspectAfterStart() throws {
        var record = MachineBench.record(token: "token-1", life: .seconds(1000))
        record.tokens.isSuspect = true
        let stored = try SessionRecord(decoding: record.encoded())
        var bench = MachineBench(handedOver: HandedOverSession(record: stored, isStored: true, isUnsaved: false))
        bench.tokenRequested(1)
        // It waits for a renewal, which waits for the store.
        #expect(bench.answer(to: 1) == nil)
        #expect(bench.snapshot?.isSuspect == true && bench.machine.currentRequest != nil)
    }

    @Test("a rejected token for a scope that a later rotation has replaced shows that the provider revokes them")
    func exclusive() throws {
        var bench = MachineBench()
        let target = try Self.target()
        want(&bench, 1, target)
        try arrive(&bench, "read-1", refresh: "refresh-2")
        try bench.storeTakesIt()
        bench.tokenRequested(2)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        bench.send(.rejected(CallerID(3), Secret("read-1")))
        #expect(bench.snapshot?.status.cause == "tokens_exclusive")
        #expect(bench.snapshot?.status.state == .active)
        want(&bench, 4, target)
        #expect(bench.targetedRequests.count == 2)
        try arrive(&bench, "read-2", refresh: "refresh-4")
        try bench.storeTakesIt()
        #expect(bench.token(for: 4) == "read-2")
        // From now on each is fetched again after the other one.
        bench.tokenRequested(5)
        try bench.provider(gives: "token-3")
        try bench.storeTakesIt()
        want(&bench, 6, target)
        #expect(bench.targetedRequests.count == 3)
    }

    @Test("a store that refuses blocks no caller, and nothing is lost")
    func storeRefuses() throws {
        var bench = MachineBench()
        want(&bench, 1, try Self.target())
        try arrive(&bench, "read-1", refresh: "refresh-2")
        try bench.storeRefusesIt()
        #expect(bench.token(for: 1) == "read-1")
        #expect(bench.machine.record.tokens.refreshToken?.reveal() == "refresh-2")
        bench.send(.storeReady)
        #expect(bench.saves.count == 2)
    }

    @Test("no caller waits for a store that another program always writes to first")
    func contested() throws {
        var bench = MachineBench()
        bench.acceptsRewrites = false
        want(&bench, 1, try Self.target())
        for number in 2...4 {
            #expect(bench.answer(to: 1) == nil && bench.rewrites.count == number - 1)
            var theirs = bench.machine.record
            theirs.tokens.accessToken = Secret("token-\(number)")
            theirs.tokens.refreshToken = Secret("refresh-\(number)")
            theirs.generation += 1
            bench.send(.saveRefused(try #require(bench.rewrites.last).version, theirs))
        }
        #expect(bench.failure(for: 1)?.kind == .keyringUnavailable)
        #expect(bench.targetedRequests.isEmpty && bench.machine.record.tokens.accessToken.reveal() == "token-4")
    }

    @Test("requests are sent one after the other, whatever is requested meanwhile")
    func turns() throws {
        var bench = MachineBench()
        want(&bench, 1, try Self.target(["read"]))
        bench.send(.renewalRequested(CallerID(2)))
        want(&bench, 3, try Self.target(["write"]))
        #expect(bench.targetedRequests.count == 1)
        #expect(bench.requestsInFlight.isEmpty)
        try arrive(&bench, "read-1", refresh: "refresh-2")
        #expect(bench.requestsInFlight.isEmpty)
        try bench.storeTakesIt()
        #expect(bench.requestsInFlight.count == 1)
        #expect(bench.targetedRequests.count == 1)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.targetedRequests.count == 2)
        #expect(bench.answer(to: 2) != nil)
        try arrive(&bench, "write-1")
        #expect(bench.token(for: 3) == "write-1")
    }

    @Test("a refused target does not end the session, not even with invalid_grant, and is not requested again at once")
    func refused() throws {
        var bench = MachineBench()
        let target = try Self.target(nil, "https://api.example.org")
        want(&bench, 1, target)
        bench.send(
            .requestEnded(try #require(bench.targetedRequests.last), .failure(.invalidGrant), sentAt: bench.now))
        #expect(bench.failure(for: 1)?.kind == .refused)
        #expect(bench.rereads == 0)
        #expect(bench.snapshot?.status.state == .active)
        want(&bench, 2, target)
        #expect(bench.failure(for: 2) != nil)
        #expect(bench.targetedRequests.count == 1)
        bench.advance(.seconds(6))
        want(&bench, 3, target)
        #expect(bench.targetedRequests.count == 2)
    }

    @Test("fewer scopes than requested are reported, and the refresh token that came is kept")
    func less() throws {
        var bench = MachineBench()
        want(&bench, 1, try Self.target(["read", "write"]))
        try arrive(&bench, "read-1", refresh: "refresh-2", scopes: ["read"])
        try bench.storeTakesIt()
        #expect(bench.failure(for: 1)?.kind == .forbidden)
        #expect(bench.failure(for: 1)?.message.contains("write") == true)
        #expect(bench.machine.record.tokens.refreshToken?.reveal() == "refresh-2")
    }

    @Test("a sign-out, another sign-in and a 401 forget it")
    func forgotten() throws {
        let target = try Self.target()
        var bench = MachineBench()
        want(&bench, 1, target)
        try arrive(&bench, "read-1")
        bench.send(.rejected(CallerID(2), Secret("read-1")))
        want(&bench, 3, target)
        // Too young for its age to be what is wrong with it.
        #expect(bench.token(for: 3) == "read-1")
        bench.advance(.seconds(100))
        bench.send(.rejected(CallerID(4), Secret("read-1")))
        want(&bench, 5, target)
        #expect(bench.answer(to: 5) == nil)
        bench.send(.signOutRequested(CallerID(6)))
        #expect(bench.failure(for: 5)?.kind == .notSignedIn)
        want(&bench, 7, target)
        #expect(bench.failure(for: 7)?.kind == .notSignedIn)
    }

    @Test("without a network no caller waits for one")
    func offline() throws {
        var bench = MachineBench()
        bench.send(.networkChanged(.offline))
        want(&bench, 1, try Self.target())
        #expect(bench.failure(for: 1)?.kind == .offline)
        #expect(bench.targetedRequests.isEmpty)
    }

    @Test("a rejected token that was issued for the session and for a target is renewed")
    func rejectedOwn() throws {
        var bench = MachineBench()
        bench.advance(.seconds(300))
        let target = try Self.target()
        want(&bench, 1, target)
        try arrive(&bench, "token-1")
        bench.send(.rejected(CallerID(2), Secret("token-1")))
        #expect(bench.answer(to: 2) == nil)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.snapshot?.token == Secret("token-2"))
    }
}
