import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Session machine: the tokens that a sign-out revokes")
struct SessionMachineSignOutTests {
    @Test("ends if another host has signed out of a new sign-in whose first write had no response")
    func removedNewSignIn() throws {
        var bench = MachineBench(fresh: true)
        bench.send(.shared(true))
        try bench.storeRefusesIt(.cluster(.unreachable(reason: "no route")))
        bench.send(.storeReady)
        try bench.storeRefusesIt(.cluster(.removed))
        #expect(bench.comparisons == 1)
        bench.send(.compared(.success(nil), absence: .removed))
        #expect(bench.forgotten)
    }

    @Test("are the tokens in use")
    func inUse() {
        var bench = MachineBench()
        bench.send(.signOutRequested(CallerID(1)))
        #expect(bench.machine.signedOutTokens.map(\.tokens.accessToken) == [Secret("token-1")])
        bench.send(.deleted())
        #expect(bench.machine.signedOutTokens.count == 1 && bench.revocations.isEmpty)
    }

    @Test("are also those that another host has written a moment before")
    func writtenElsewhere() {
        for isNewer in [true, false] {
            var bench = MachineBench()
            bench.send(.signOutRequested(CallerID(1)))
            let stored = isNewer ? MachineBench.record(token: "theirs", life: .seconds(1000), revision: 2) : nil
            bench.send(.deleted(stored ?? bench.machine.record))
            #expect(
                bench.machine.signedOutTokens.map(\.tokens.accessToken)
                    == (isNewer ? [Secret("theirs")] : []) + [Secret("token-1")])
        }
    }

    @Test("are also those on their way to the store, first of all")
    func beingSaved() throws {
        var bench = MachineBench()
        bench.advance(.seconds(400))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-2")
        bench.send(.signOutRequested(CallerID(2)))
        #expect(bench.machine.signedOutTokens.map(\.tokens.accessToken) == [Secret("token-2"), Secret("token-1")])
    }

    @Test(
        "are also those of a renewal that was in progress, before and after the removal",
        arguments: [true, false])
    func late(isRemoved: Bool) throws {
        var bench = MachineBench()
        bench.advance(.seconds(400))
        bench.send(.renewalRequested(CallerID(1)))
        bench.send(.signOutRequested(CallerID(2)))
        if isRemoved { bench.send(.deleted()) }
        try bench.provider(gives: "token-2")
        let revoked = try #require(bench.revocations.first)
        #expect(revoked.tokens.accessToken == Secret("token-2"))
        #expect(revoked.tokens.refreshToken == Secret("refresh of token-2"))
        #expect(bench.saves.isEmpty && bench.snapshot?.token == nil)
        try bench.provider(gives: "token-2")
        #expect(bench.revocations.count == 1)
    }

    @Test("include those for a scope, and those that arrive after a new sign-in")
    func lateTarget() throws {
        var bench = MachineBench()
        let target = try #require(try TokenTarget(TokenGet(scopes: ["read"])))
        bench.send(.targetedTokenRequested(CallerID(1), target, minValid: nil))
        bench.send(.signOutRequested(CallerID(2)))
        bench.send(
            .replaced(
                MachineBench.otherSignIn(token: "new", life: .seconds(1000), at: bench.elapsed), sentAt: bench.now))
        let grant = Grant(
            accessToken: Secret("targeted"), refreshToken: Secret("rotated"), issuedAt: bench.now.wall,
            expiresAt: bench.now.wall + .seconds(60))
        bench.send(.requestEnded(try #require(bench.targetedRequests.first), .success(grant), sentAt: bench.now))
        #expect(bench.revocations.map(\.tokens.refreshToken) == [Secret("rotated")])
        #expect(bench.snapshot?.token == Secret("new"))
    }

    @Test("are also valid tokens for one scope or audience, even one whose refresh token is being written")
    func targeted() throws {
        var bench = MachineBench()
        for (caller, scope) in ["old", "read", "write"].enumerated() {
            let target = try #require(try TokenTarget(TokenGet(scopes: [scope])))
            bench.send(.targetedTokenRequested(CallerID(UInt64(caller)), target, minValid: nil))
            let grant = Grant(
                accessToken: Secret(scope), refreshToken: scope == "write" ? Secret("rotated") : nil,
                issuedAt: bench.now.wall, expiresAt: bench.now.wall + .seconds(scope == "old" ? 1 : 100))
            bench.send(.requestEnded(try #require(bench.targetedRequests.last), .success(grant), sentAt: bench.now))
            bench.advance(.seconds(1))
        }
        #expect(bench.saves.last?.tokens.refreshToken == Secret("rotated"))
        bench.send(.signOutRequested(CallerID(9)))
        let targeted = bench.machine.signedOutTargets.map(\.tokens)
        #expect(targeted.map(\.accessToken) == [Secret("write"), Secret("read")])
        #expect(targeted.allSatisfy { $0.refreshToken == nil })
    }

    @Test("are also tokens for one scope or audience if another account takes the session")
    func targetedOfOtherAccount() throws {
        var bench = MachineBench()
        let target = try #require(try TokenTarget(TokenGet(scopes: ["read"])))
        bench.send(.targetedTokenRequested(CallerID(1), target, minValid: nil))
        let grant = Grant(
            accessToken: Secret("targeted"), issuedAt: bench.now.wall, expiresAt: bench.now.wall + .seconds(60))
        bench.send(.requestEnded(try #require(bench.targetedRequests.first), .success(grant), sentAt: bench.now))
        bench.send(
            .replaced(
                MachineBench.otherSignIn(token: "new", life: .seconds(1000), at: bench.elapsed), sentAt: bench.now,
                revokesFormer: true))
        #expect(bench.revocations.map(\.tokens.accessToken) == [Secret("token-1"), Secret("targeted")])
    }

    @Test("include those of a renewal, even if only the second sign-out was to revoke")
    func afterAll() throws {
        var bench = MachineBench()
        bench.advance(.seconds(400))
        bench.send(.renewalRequested(CallerID(1)))
        bench.send(.signOutRequested(CallerID(2), revokes: false))
        bench.send(.signOutRequested(CallerID(3)))
        try bench.provider(gives: "token-2")
        #expect(bench.revocations.map(\.tokens.accessToken) == [Secret("token-2")])
    }

    @Test("include those of a renewal that another program's sign-out did not know", arguments: [false, true])
    func elsewhere(isReceived: Bool) throws {
        var bench = MachineBench()
        bench.advance(.seconds(400))
        bench.send(.renewalRequested(CallerID(1)))
        if isReceived { try bench.provider(gives: "token-2") }
        bench.send(.storeChanged)
        if isReceived {
            bench.send(.saveFailed(try #require(bench.saves.last).version, .failed(reason: "gone")))
            bench.send(.storeReady)
        }
        #expect(bench.comparisons == 1)
        bench.send(.compared(.success(nil), absence: .removed))
        #expect(bench.forgotten)
        if !isReceived { try bench.provider(gives: "token-2") }
        #expect(bench.revocations.map(\.tokens.refreshToken) == [Secret("refresh of token-2")])
    }

    @Test(
        "do not include a refresh token that the provider has not replaced, if another program has removed the record")
    func moved() throws {
        var bench = MachineBench()
        bench.advance(.seconds(400))
        bench.send(.renewalRequested(CallerID(1)))
        bench.send(.storeChanged)
        bench.send(.compared(.success(nil), absence: .removed))
        let grant = Grant(accessToken: Secret("token-2"), issuedAt: bench.now.wall)
        bench.send(.requestEnded(try #require(bench.requestsInFlight.last), .success(grant), sentAt: bench.now))
        #expect(bench.forgotten && bench.revocations.isEmpty)
    }

    @Test("is nothing if nothing is to be revoked, or the provider has issued nothing")
    func nothing() throws {
        var quiet = MachineBench()
        quiet.advance(.seconds(400))
        quiet.send(.renewalRequested(CallerID(1)))
        var failed = quiet
        quiet.send(.signOutRequested(CallerID(2), revokes: false))
        try quiet.provider(gives: "token-2")
        failed.send(.signOutRequested(CallerID(2)))
        try failed.provider(fails: .invalidGrant)
        #expect(quiet.revocations.isEmpty && failed.revocations.isEmpty)
    }
}
