import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Before a refresh token is spent")
struct SessionMachineProofTests {
    /// One whose store answers when the test says so.
    private func bench(fresh: Bool = false) -> MachineBench {
        var bench = MachineBench(fresh: fresh)
        bench.acceptsRewrites = false
        return bench
    }

    @Test("the store has accepted a write in this run, of a record that it has already")
    func proof() throws {
        var bench = bench()
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        #expect(bench.requestsInFlight.isEmpty)
        #expect(bench.rewrites.map(\.tokens.refreshToken) == [Secret("refresh-1")])
        #expect(bench.answer(to: 1) == nil)
        try bench.storeTakesRewrite()
        #expect(bench.requestsInFlight.count == 1)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.token(for: 1) == "token-2")
    }

    @Test("that write is one in each run, before the first renewal")
    func once() throws {
        var bench = MachineBench()
        for number in 2...4 {
            bench.advance(.seconds(1100))
            bench.tokenRequested(UInt64(number))
            try bench.provider(gives: "token-\(number)")
            try bench.storeTakesIt()
        }
        #expect(bench.rewrites.count == 1)
        #expect(bench.requestsInFlight.count == 3)
    }

    @Test("no write is needed on one of several hosts if the last renewal kept it", arguments: [true, false])
    func kept(isKept: Bool) {
        var bench = bench()
        bench.send(.shared(true))
        var stored = MachineBench.record(token: "theirs", life: .seconds(1000), revision: 2)
        stored.tokens.keepsRefreshToken = isKept
        bench.send(.storeChanged)
        bench.send(.compared(.success(stored), absence: .removed))
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        #expect(bench.requestsInFlight.count == (isKept ? 1 : 0) && bench.rewrites.count == (isKept ? 0 : 1))
    }

    @Test("and nothing is sent if the network was lost during that write", arguments: [NetworkState.offline, .portal])
    func networkLost(state: NetworkState) throws {
        var bench = bench()
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        bench.send(.networkChanged(state))
        try bench.storeTakesRewrite()
        #expect(bench.requestsInFlight.isEmpty)
        #expect(bench.failure(for: 1)?.kind == (state == .offline ? .offline : .captivePortal))
        bench.send(.networkChanged(.online))
        bench.tokenRequested(2)
        #expect(bench.requestsInFlight.count == 1)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.token(for: 2) == "token-2")
    }

    @Test("and a keyring that asks the user keeps it from being spent, and says so")
    func waiting() throws {
        var bench = bench()
        bench.advance(.seconds(900))
        bench.tokenRequested(1, minValid: .seconds(500))
        try bench.storeRefusesRewrite(.waiting)
        #expect(bench.requestsInFlight.isEmpty)
        #expect(bench.token(for: 1) == "token-1")
        #expect(bench.snapshot?.status.state == .active)
        bench.advance(.seconds(200))
        bench.tokenRequested(2)
        try bench.storeRefusesRewrite(.waiting)
        #expect(bench.failure(for: 2)?.kind == .keyringLocked)
        #expect(bench.failure(for: 2)?.cause == "keyring_waiting")
        #expect(bench.snapshot?.status.state == .stale)
        #expect(bench.snapshot?.status.cause == "keyring_waiting")
        #expect(bench.requestsInFlight.isEmpty)
    }

    @Test("goes on by itself when the store is ready")
    func ready() throws {
        var bench = bench()
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        try bench.storeRefusesRewrite(.waiting)
        bench.forgetActions()
        bench.send(.storeReady)
        _ = try bench.sleepUntilWake()
        #expect(bench.rewrites.count == 1)
        try bench.storeTakesRewrite()
        #expect(bench.requestsInFlight.count == 1)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.state == .active)
    }

    @Test("a store that stops responding is read again, less and less often", arguments: 1...20)
    func retried(seed: UInt64) throws {
        var bench = MachineBench(seed: seed)
        bench.acceptsRewrites = false
        bench.advance(.seconds(1100))
        bench.send(.wake)
        var tries = [bench.elapsed]
        for number in 1...12 {
            #expect(bench.rewrites.count == number)
            try bench.storeRefusesRewrite(.failed(reason: "disk full"))
            tries.append(try bench.sleepUntilWake())
        }
        #expect(bench.requestsInFlight.isEmpty)
        // A back-off, and not one every few seconds.
        #expect(tries[12] - tries[8] > .seconds(60))
    }

    @Test("a sign-in that the store has written needs no other write, and one that it refuses is in memory alone")
    func freshSignIn() throws {
        var written = bench(fresh: true)
        try written.storeTakesIt()
        written.advance(.seconds(900))
        written.tokenRequested(1, minValid: .seconds(500))
        #expect(written.requestsInFlight.count == 1)
        var refused = bench(fresh: true)
        try refused.storeRefusesIt(.missing(reason: "no keyring"))
        refused.advance(.seconds(900))
        refused.tokenRequested(1, minValid: .seconds(500))
        #expect(refused.requestsInFlight.count == 1)
        #expect(written.rewrites.isEmpty && refused.rewrites.isEmpty)
    }

    @Test("a first write that is on its way is waited for, and one without an answer counts as held")
    func firstWrite() throws {
        var bench = bench(fresh: true)
        bench.send(.renewalRequested(CallerID(1)))
        #expect(bench.requestsInFlight.isEmpty)
        try bench.storeRefusesIt(.notAnswering(after: .seconds(5)))
        #expect(bench.failure(for: 1)?.kind == .keyringUnavailable)
        #expect(bench.requestsInFlight.isEmpty)
        bench.send(.storeReady)
        try bench.storeTakesIt()
        bench.send(.renewalRequested(CallerID(2)))
        #expect(bench.requestsInFlight.count == 1)
    }

    @Test("a first write during which the agent ended counts as held in the next run, until the store says more")
    func endedDuringFirstWrite() throws {
        let former = bench(fresh: true)
        let handedOver = try #require(former.handedOver)
        #expect(handedOver.mayBeStored && !handedOver.isStored)
        var next = MachineBench(handedOver: handedOver)
        next.acceptsRewrites = false
        next.send(.renewalRequested(CallerID(1)))
        #expect(next.requestsInFlight.isEmpty)
        next.send(.compared(.success(handedOver.record)))
        try next.storeTakesRewrite()
        #expect(next.requestsInFlight.count == 1)
    }

    @Test("a first write that the store has refused does not count as held in the next run")
    func refusedBeforeTheEnd() throws {
        var former = bench(fresh: true)
        try former.storeRefusesIt(.missing(reason: "no keyring"))
        let handedOver = try #require(former.handedOver)
        #expect(!handedOver.mayBeStored && !handedOver.isStored)
    }

    @Test("a sign-in waits for its first write while the keyring asks the user about it")
    func askedAtSignIn() throws {
        var bench = bench(fresh: true)
        try bench.storeRefusesIt(.waiting)
        bench.advance(.seconds(900))
        bench.tokenRequested(1, minValid: .seconds(500))
        #expect(bench.requestsInFlight.isEmpty)
        try bench.storeTakesIt()
        #expect(bench.requestsInFlight.count == 1)
    }

    @Test("the same applies to a targeted token")
    func targeted() throws {
        var bench = bench()
        let target = try #require(try TokenTarget(TokenGet(scopes: ["read"])))
        bench.send(.targetedTokenRequested(CallerID(1), target, minValid: nil))
        #expect(bench.targetedRequests.isEmpty)
        try bench.storeRefusesRewrite(.waiting)
        #expect(bench.failure(for: 1)?.cause == "keyring_waiting")
        bench.advance(.seconds(10))
        bench.send(.targetedTokenRequested(CallerID(2), target, minValid: nil))
        try bench.storeTakesRewrite()
        #expect(bench.targetedRequests.count == 1)
    }

    @Test("one refusal of the store answers all callers of targeted tokens, not one try for each")
    func targetsInARow() throws {
        var bench = bench()
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        for (caller, scope) in [(UInt64(2), "a"), (3, "b")] {
            let target = try #require(try TokenTarget(TokenGet(scopes: [scope])))
            bench.send(.targetedTokenRequested(CallerID(caller), target, minValid: nil))
        }
        try bench.storeRefusesRewrite(.waiting)
        for caller in 1...3 as ClosedRange<UInt64> {
            #expect(bench.failure(for: caller)?.cause == "keyring_waiting")
        }
        #expect(bench.rewrites.count == 1)
        for (caller, scope) in [(UInt64(4), "c"), (5, "d")] {
            let target = try #require(try TokenTarget(TokenGet(scopes: [scope])))
            bench.send(.targetedTokenRequested(CallerID(caller), target, minValid: nil))
        }
        try bench.storeRefusesRewrite(.waiting)
        #expect(bench.failure(for: 5)?.cause == "keyring_waiting")
        #expect(bench.rewrites.count == 2)
    }

    @Test("another service behind the store proves itself again")
    func replaced() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        bench.send(.storeReplaced)
        bench.send(.storeReady)
        bench.advance(.seconds(1100))
        bench.tokenRequested(2)
        #expect(bench.rewrites.count == 2)
    }

    @Test("a sign-out waits for that write, and nothing is requested afterwards")
    func signOut() throws {
        var bench = bench()
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        bench.send(.signOutRequested(CallerID(2)))
        #expect(bench.deletes == 0)
        try bench.storeRefusesRewrite(.locked)
        #expect(bench.deletes == 1)
        bench.send(.deleted())
        #expect(bench.forgotten)
        #expect(bench.requestsInFlight.isEmpty)
    }

    // MARK: What a service has lost

    private func missing(isLost: Bool) throws -> MachineBench {
        var bench = MachineBench()
        bench.send(.storeChanged)
        bench.send(.compared(.success(nil), absence: isLost ? .lost : .unsure))
        bench.forgetActions()
        bench.advance(.seconds(2))
        bench.send(.wake)
        #expect(bench.comparisons == 1)
        bench.send(.compared(.success(nil), absence: isLost ? .lost : .unsure))
        return bench
    }

    @Test("a record that the store has lost is written again, and the session continues")
    func lost() throws {
        var bench = try missing(isLost: true)
        #expect(bench.saves.map(\.tokens.refreshToken) == [Secret("refresh-1")])
        #expect(!bench.forgotten)
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.state == .active)
        #expect(bench.snapshot?.status.unsaved == false)
    }

    @Test("a record that another program has removed is not written again: the session ends")
    func removed() throws {
        let bench = try missing(isLost: false)
        #expect(bench.saves.isEmpty)
        #expect(bench.forgotten)
    }

    @Test("a record that is known to be removed ends the session at once")
    func removedForCertain() throws {
        var bench = MachineBench()
        bench.send(.storeChanged)
        bench.send(.compared(.success(nil), absence: .removed))
        #expect(bench.saves.isEmpty)
        #expect(bench.forgotten)
    }
}
