import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Session machine")
struct SessionMachineTests {
    // MARK: Invariant 1

    @Test("a thousand callers share one renewal, and all get its result")
    func oneFlight() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1100))
        for caller in 1...1000 { bench.tokenRequested(UInt64(caller)) }
        bench.send(.renewalRequested(CallerID(2000)))
        #expect(bench.requestsInFlight.count == 1)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect((1...1000).allSatisfy { bench.token(for: UInt64($0)) == "token-2" })
        guard case .done = bench.answer(to: 2000) else { throw Unexpected() }
    }

    @Test("a caller that has gone is not answered, and the renewal goes on for the others")
    func callerGone() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        bench.tokenRequested(2)
        bench.send(.callerGone(CallerID(1)))
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.answer(to: 1) == nil)
        #expect(bench.token(for: 2) == "token-2")
    }

    // MARK: Invariant 2

    @Test("no caller gets the new token before the store has it")
    func storeFirst() throws {
        var bench = MachineBench()
        bench.advance(.seconds(900))
        bench.tokenRequested(1, minValid: .seconds(500))
        try bench.provider(gives: "token-2")
        #expect(bench.answer(to: 1) == nil)
        #expect(bench.snapshot?.token == Secret("token-1"))
        bench.tokenRequested(2)
        #expect(bench.token(for: 2) == "token-1")
        try bench.storeTakesIt()
        #expect(bench.token(for: 1) == "token-2")
        #expect(bench.snapshot?.token == Secret("token-2"))
    }

    @Test("a rotation is one write of the whole record")
    func oneWrite() throws {
        var bench = MachineBench()
        bench.advance(.seconds(900))
        bench.tokenRequested(1, minValid: .seconds(500))
        try bench.provider(gives: "token-2")
        #expect(bench.saves.count == 1)
        let saved = try #require(bench.saves.last)
        #expect(saved.tokens.accessToken == Secret("token-2"))
        #expect(saved.tokens.refreshToken == Secret("refresh of token-2"))
        #expect(saved.user?.email == "ada@example.org")
        #expect(saved.generation == 2 && saved.revision == 1)
    }

    @Test("when the store fails, the new token is used, and written as soon as the store is back")
    func storeFails() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        try bench.provider(gives: "token-2")
        try bench.storeRefusesIt()
        #expect(bench.token(for: 1) == "token-2")
        #expect(bench.snapshot?.status.unsaved == true)
        bench.forgetActions()
        bench.send(.storeReady)
        #expect(bench.saves.map(\.generation) == [2])
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.unsaved == false)
    }

    @Test("a token that could not be written stays reported as unsaved while the store is only read")
    func readAfterFailedWrite() throws {
        var bench = MachineBench()
        let stored = bench.machine.record
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        try bench.provider(gives: "token-2")
        try bench.storeRefusesIt()
        bench.forgetActions()
        bench.send(.storeChanged)
        bench.send(.storeReady)
        bench.send(.compared(.success(stored)))
        #expect(bench.saves.map(\.generation) == [2])
        #expect(bench.snapshot?.status.unsaved == true && bench.snapshot?.status.storeError != nil)
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.unsaved == false && bench.snapshot?.status.storeError == nil)
    }

    @Test("a store that says nothing more is tried again by itself")
    func storeRetried() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        try bench.provider(gives: "token-2")
        try bench.storeRefusesIt(.notAnswering(after: .seconds(5)))
        bench.forgetActions()
        bench.advance(Backoff.longest)
        bench.send(.wake)
        #expect(bench.saves.count == 1)
    }

    @Test("the answer to an earlier write does not release the callers of a renewal")
    func earlierWrite() throws {
        var bench = MachineBench()
        bench.send(.defaultChosen())
        try bench.storeTakesIt()
        bench.send(.defaultChosen())
        let choice = try #require(bench.saves.last)
        bench.advance(.seconds(1100))
        bench.tokenRequested(1)
        try bench.provider(gives: "token-2")
        bench.send(.saved(choice.version))
        #expect(bench.answer(to: 1) == nil)
        #expect(bench.saves.last?.tokens.accessToken == Secret("token-2"))
        #expect(bench.saves.last?.defaultSince != nil)
        try bench.storeTakesIt()
        #expect(bench.token(for: 1) == "token-2")
    }

    // MARK: Invariant 3

    @Test("a good token is returned while the provider fails")
    func goodTokenServed() throws {
        var bench = MachineBench()
        bench.advance(.seconds(900))
        bench.tokenRequested(1, minValid: .seconds(500))
        try bench.provider(fails: .unreachable)
        #expect(bench.token(for: 1) == "token-1")
        #expect(bench.snapshot?.status.state == .active)
    }

    @Test("a token that has ended is not returned, and the failure says why")
    func endedToken() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1000))
        bench.tokenRequested(1)
        try bench.provider(fails: .unreachable)
        #expect(bench.failure(for: 1)?.kind == .providerUnreachable)
        #expect(bench.snapshot?.status.state == .stale)
        #expect(bench.snapshot?.status.cause == "provider_unreachable")
        #expect(bench.snapshot?.token == nil)
    }

    @Test("a caller without a minimum gets a token near its end at once, and its renewal begins")
    func nearTheEnd() {
        var bench = MachineBench()
        bench.advance(.seconds(995))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-1")
        #expect(bench.requestsInFlight.count == 1)
    }

    @Test("between two tries a caller learns at once when the next one is", arguments: 1...20)
    func betweenTries(seed: UInt64) throws {
        var bench = MachineBench(seed: seed)
        bench.advance(.seconds(1000))
        bench.tokenRequested(1)
        try bench.provider(fails: .unreachable)
        bench.tokenRequested(2)
        #expect(bench.requestsInFlight.count == 1)
        let wait = try #require(bench.failure(for: 2)?.retryAfter)
        #expect(wait > .zero && wait <= Backoff.shortest)
    }

    // MARK: Invariant 4

    @Test("a final answer is final only when the store holds nothing newer")
    func finalAnswer() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1033))
        bench.tokenRequested(1)
        try bench.provider(fails: .invalidGrant)
        #expect(bench.rereads == 1)
        #expect(bench.answer(to: 1) == nil)
        bench.send(
            .storeReread(
                bench.requestsInFlight[0], .success(MachineBench.record(token: "token-1", life: .seconds(1000)))))
        #expect(bench.failure(for: 1)?.kind == .signInRequired)
        #expect(bench.failure(for: 1)?.providerMessage == "token revoked")
        #expect(bench.snapshot?.status.state == .signInRequired)
        #expect(bench.deletes == 0)
    }

    @Test("a newer token that another writer put into the store is adopted")
    func adopted() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1000))
        bench.tokenRequested(1)
        try bench.provider(fails: .invalidGrant)
        let theirs = MachineBench.record(token: "theirs", life: .seconds(1000), at: .seconds(990), revision: 2)
        bench.send(.storeReread(bench.requestsInFlight[0], .success(theirs)))
        #expect(bench.token(for: 1) == "theirs")
        #expect(bench.snapshot?.status.state == .active)
    }

    @Test("without a response of the store there is no decision")
    func noVerdictWithoutStore() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1033))
        bench.tokenRequested(1)
        try bench.provider(fails: .invalidGrant)
        bench.send(.storeReread(bench.requestsInFlight[0], .failure(.locked)))
        #expect(bench.snapshot?.status.state == .stale)
        #expect(bench.failure(for: 1)?.kind == .refused)
        #expect(bench.wakeAt != nil)
    }

    @Test("a refusal that is not final is tried again")
    func notFinal() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1000))
        bench.tokenRequested(1)
        try bench.provider(fails: .refused(AgentError(.forbidden, "not now")))
        #expect(bench.snapshot?.status.state == .stale)
        #expect(bench.rereads == 0)
    }

    // MARK: Invariant 5

    @Test("only sign-out deletes, and it waits for a write in progress")
    func signOut() throws {
        var bench = MachineBench()
        bench.send(.defaultChosen())
        bench.send(.signOutRequested(CallerID(1)))
        #expect(bench.deletes == 0)
        try bench.storeTakesIt()
        #expect(bench.deletes == 1)
        #expect(bench.snapshot?.status.state == .signedOut)
        #expect(bench.snapshot?.token == nil)
        bench.send(.deleted())
        guard case .done = bench.answer(to: 1) else { throw Unexpected() }
        #expect(bench.forgotten)
        // Nothing more comes of it, or the next sign-in of that name would lose what it keeps.
        bench.send(.deleted())
        bench.send(.storeReady)
        bench.advance(.seconds(10_000))
        bench.send(.wake)
        #expect(bench.deletes == 1)
        bench.send(.signOutRequested(CallerID(2)))
        guard case .done = bench.answer(to: 2) else { throw Unexpected() }
    }

    @Test("a sign-out that the store refuses is reported, and completed when the store is back")
    func signOutRefused() throws {
        var bench = MachineBench()
        bench.send(.signOutRequested(CallerID(1)))
        bench.send(.deleteFailed(.locked))
        #expect(bench.failure(for: 1)?.kind == .keyringLocked)
        #expect(!bench.forgotten)
        bench.send(.storeReady)
        #expect(bench.deletes == 2)
        bench.send(.deleted())
        #expect(bench.forgotten)
    }

    @Test("a caller of a token gets an error when the session is signed out meanwhile")
    func signOutEndsWaiting() {
        var bench = MachineBench()
        bench.advance(.seconds(1000))
        bench.tokenRequested(1)
        bench.send(.signOutRequested(CallerID(2)))
        #expect(bench.failure(for: 1)?.kind == .notSignedIn)
        bench.tokenRequested(3)
        #expect(bench.failure(for: 3)?.kind == .notSignedIn)
    }

    // MARK: Invariant 6

    @Test("renewal happens by itself, within its share of the life", arguments: 1...50)
    func byItself(seed: UInt64) throws {
        var bench = MachineBench(seed: seed)
        let woken = try bench.sleepUntilWake()
        #expect(woken >= .seconds(650) && woken <= .seconds(850))
        #expect(bench.requestsInFlight.count == 1)
    }

    @Test("a token of ten seconds is renewed before its end", arguments: 1...50)
    func shortLife(seed: UInt64) throws {
        var bench = MachineBench(life: .seconds(10), seed: seed)
        let woken = try bench.sleepUntilWake()
        #expect(woken >= .seconds(6.5) && woken <= .seconds(7.5))
    }

    @Test("failed tries back off to five minutes and no further")
    func backsOff() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1000))
        bench.send(.wake)
        var last = bench.elapsed
        var waits: [Duration] = []
        for _ in 1...200 {
            try bench.provider(fails: .unreachable)
            let woken = try bench.sleepUntilWake()
            waits.append(woken - last)
            last = woken
        }
        #expect(waits.allSatisfy { $0 >= Backoff.shortest && $0 <= Backoff.longest })
        #expect(waits.suffix(100).max() ?? .zero > .seconds(200))
        // Full jitter from 1 s to 300 s: 150 s on average.
        let average = waits.suffix(150).reduce(.zero, +) / 150
        #expect(average > .seconds(110) && average < .seconds(190))
    }

    @Test("a provider's Retry-After is honoured")
    func retryAfter() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1000))
        bench.send(.wake)
        let failedAt = bench.elapsed
        try bench.provider(
            fails: .temporary(AgentError(.rateLimited, "slowly"), retryAfter: .seconds(120)))
        #expect(try bench.sleepUntilWake() - failedAt >= .seconds(120))
    }

    @Test("when the network is back, renewal follows within two seconds", arguments: 1...20)
    func networkBack(seed: UInt64) throws {
        var bench = MachineBench(seed: seed)
        bench.advance(.seconds(1000))
        bench.send(.wake)
        for _ in 1...12 {
            try bench.provider(fails: .unreachable)
            _ = try bench.sleepUntilWake()
        }
        try bench.provider(fails: .unreachable)
        bench.send(.networkChanged(.offline))
        bench.advance(.seconds(5))
        let back = bench.elapsed
        bench.send(.networkChanged(.online))
        #expect(try bench.sleepUntilWake() - back <= .seconds(2))
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.state == .active)
    }

    @Test("without a network nothing is tried until it is back")
    func offline() {
        var bench = MachineBench()
        bench.send(.networkChanged(.offline))
        bench.advance(.seconds(1000))
        bench.send(.wake)
        #expect(bench.requestsInFlight.isEmpty)
        #expect(bench.snapshot?.status.state == .stale)
    }

    // MARK: Invariant 7

    @Test("the result of a renewal from before a new sign-in is dropped")
    func earlierGeneration() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1000))
        bench.tokenRequested(1)
        let new = MachineBench.otherSignIn(token: "signed-in-again", life: .seconds(1000), at: bench.elapsed)
        bench.send(.replaced(new, sentAt: bench.now))
        #expect(bench.token(for: 1) == "signed-in-again")
        try bench.provider(gives: "late")
        bench.tokenRequested(2)
        #expect(bench.token(for: 2) == "signed-in-again")
        #expect(bench.saves.last?.revision == 2)
    }

    @Test("a new sign-in during a sign-out is written after the removal")
    func signInDuringSignOut() throws {
        var bench = MachineBench()
        bench.send(.signOutRequested(CallerID(1)))
        let new = MachineBench.otherSignIn(token: "signed-in-again", life: .seconds(1000), at: bench.elapsed)
        bench.send(.replaced(new, sentAt: bench.now))
        #expect(bench.saves.isEmpty)
        bench.send(.deleted())
        #expect(bench.saves.last?.tokens.accessToken == Secret("signed-in-again"))
        #expect(!bench.forgotten)
    }

    struct Unexpected: Error {}
}
