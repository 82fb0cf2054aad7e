import AuthMachines
import AuthModel
import AuthWire
import Testing

/// Tokens that a program got a 401 with, and sessions that nothing renews.
@Suite("Session machine: ends")
struct SessionMachineEndsTests {
    // MARK: Rejected tokens

    @Test("a 401 on the token in use leads to one renewal, however many programs report it")
    func rejected() throws {
        var bench = MachineBench()
        bench.advance(.seconds(100))
        for caller in 1...50 { bench.send(.rejected(CallerID(UInt64(caller)), Secret("token-1"))) }
        #expect(bench.requestsInFlight.count == 1)
        #expect(bench.snapshot?.token == nil)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        bench.send(.rejected(CallerID(60), Secret("token-1")))
        guard case .done = bench.answer(to: 60) else { throw Unexpected() }
        #expect(bench.requestsInFlight.count == 1)
    }

    @Test("a 401 on a token that has just come renews it once, and the token stays in use meanwhile")
    func rejectedYoung() throws {
        var bench = MachineBench()
        bench.advance(.seconds(5))
        for caller in 1...3 { bench.send(.rejected(CallerID(UInt64(caller)), Secret("token-1"))) }
        #expect(bench.requestsInFlight.count == 1)
        #expect(bench.snapshot?.token == Secret("token-1"))
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        for caller in 1...3 { guard case .done = bench.answer(to: UInt64(caller)) else { throw Unexpected() } }
        bench.advance(.seconds(5))
        bench.send(.rejected(CallerID(4), Secret("token-2")))
        guard case .done = bench.answer(to: 4) else { throw Unexpected() }
        #expect(bench.requestsInFlight.count == 1)
        #expect(bench.snapshot?.status.state == .active)
    }

    @Test("a renewal that fails after such a 401 removes no token")
    func rejectedYoungAndFailed() throws {
        var bench = MachineBench()
        bench.advance(.seconds(5))
        bench.send(.rejected(CallerID(1), Secret("token-1")))
        try bench.provider(fails: .temporary(AgentError(.providerError, "Down."), retryAfter: nil))
        #expect(bench.failure(for: 1)?.kind == .providerError)
        #expect(bench.snapshot?.status.state == .active)
        #expect(bench.snapshot?.token == Secret("token-1"))
    }

    @Test("a 401 on a young token that nothing renews ends nothing")
    func rejectedYoungWithoutRenewal() throws {
        var bench = MachineBench(canRenew: false)
        bench.advance(.seconds(5))
        bench.send(.rejected(CallerID(1), Secret("token-1")))
        guard case .done = bench.answer(to: 1) else { throw Unexpected() }
        #expect(bench.snapshot?.status.state == .active)
    }

    @Test("the provider's final answer about a session that nothing renews ends it, however young its token is")
    func finalAnswer() throws {
        var bench = MachineBench(life: nil, canRenew: false)
        bench.advance(.seconds(5))
        bench.send(.rejected(CallerID(1), Secret("another"), isFinal: true))
        #expect(bench.snapshot?.status.state == .active)
        bench.send(.rejected(CallerID(2), Secret("token-1"), isFinal: true))
        #expect(bench.failure(for: 2)?.kind == .signInRequired)
        #expect(bench.snapshot?.status.state == .signInRequired)
        #expect(bench.snapshot?.status.cause == "token_rejected" && bench.deletes == 0)
    }

    // MARK: Sign-out

    @Test("what was removed from the store is removed once")
    func removedOnce() {
        var bench = MachineBench()
        bench.send(.signOutRequested(CallerID(1)))
        #expect(bench.deletes == 1)
        bench.send(.deleted())
        bench.send(.wake)
        bench.send(.storeReady)
        #expect(bench.deletes == 1)
    }

    // MARK: Without renewal

    @Test("if nothing renews it, the session ends with its token")
    func noRenewal() throws {
        var bench = MachineBench(canRenew: false)
        #expect(bench.snapshot?.status.state == .active)
        bench.send(.renewalRequested(CallerID(1)))
        #expect(bench.failure(for: 1)?.kind == .unsupported)
        _ = try bench.sleepUntilWake()
        // A quarter of a short life before the end the user is notified.
        #expect(bench.elapsed == .seconds(750))
        #expect(bench.snapshot?.status.state == .active)
        #expect(bench.snapshot?.ending == 1)
        _ = try bench.sleepUntilWake()
        #expect(bench.elapsed == .seconds(1000))
        #expect(bench.snapshot?.status.state == .signInRequired)
        #expect(bench.snapshot?.status.cause == "token_ended")
        #expect(bench.requestsInFlight.isEmpty)
    }

    @Test("the end of a session that nothing renews is near ten minutes before it")
    func ending() throws {
        var bench = MachineBench(life: .seconds(7200), canRenew: false)
        #expect(bench.snapshot?.status.renews == false)
        #expect(bench.snapshot?.ending == 0)
        _ = try bench.sleepUntilWake()
        #expect(bench.elapsed == .seconds(6600))
        #expect(bench.snapshot?.ending == 1)
        #expect(bench.snapshot?.status.state == .active)
    }

    @Test("a refresh token of known life is warned of 7 days and 1 day before its end, and a new one is not")
    func refreshEnds() throws {
        var record = MachineBench.record(token: "token-1", life: nil)
        let start = MachineBench.moment(.zero)
        record.tokens.refreshLife = TokenLife(
            issuedAt: start.wall, expiresAt: start.wall + .seconds(30 * 86_400))
        var machine = SessionMachine(stored: record, means: .lasting, now: start, seed: 1)
        func ending(_ days: Double, _ event: SessionEvent = .wake) -> Int? {
            var last: Int?
            let turn = machine.handle(event, at: MachineBench.moment(.seconds(days * 86_400)))
            for case .publish(let snapshot) in turn.actions {
                last = snapshot.ending
            }
            return last
        }
        machine.handle(.begun, at: start)
        #expect(ending(22.9) == nil)
        #expect(ending(23) == 1)
        #expect(ending(28.9) == nil)
        #expect(ending(29) == 2)
        #expect(RenewalPolicy.refreshNotices(life: .seconds(1800)).isEmpty)
        record.apply(
            refreshToken: Secret("refresh-1"), endsAt: start.wall + .seconds(86_400), at: start.wall + .seconds(5))
        #expect(record.tokens.refreshLife?.issuedAt == start.wall)
        record.apply(refreshToken: Secret("refresh-2"), endsAt: nil, at: start.wall + .seconds(9))
        #expect(record.tokens.refreshLife == nil)
    }

    @Test("a check that is due asks the provider within moments, and the token is served meanwhile")
    func checkDue() throws {
        var bench = MachineBench()
        bench.advance(.seconds(100))
        bench.send(.checkDue)
        #expect(bench.requestsInFlight.isEmpty)
        _ = try bench.sleepUntilWake()
        #expect(bench.elapsed <= .seconds(102))
        #expect(bench.requestsInFlight.count == 1)
        #expect(bench.snapshot?.token == Secret("token-1"))
        bench.send(
            .requestEnded(
                bench.requestsInFlight[0],
                .failure(.temporary(AgentError(.providerUnreachable, "away"), retryAfter: nil)),
                sentAt: bench.now))
        #expect(bench.snapshot?.status.state == .active)
    }

    @Test("a password that was set is no longer missing, and is kept only where answers are")
    func passwordSet() throws {
        var bench = MachineBench()
        bench.send(.passwordSet(Secret("new"), rememberedAs: "password"))
        let written = try #require(bench.saves.last)
        #expect(!written.needsPassword)
        #expect(written.remembered == nil)
    }

    @Test("a token without a known end is good until a program gets a 401")
    func noEnd() throws {
        var bench = MachineBench(life: nil)
        bench.advance(.seconds(100_000))
        bench.tokenRequested(1, minValid: .seconds(3600))
        #expect(bench.token(for: 1) == "token-1")
        bench.send(.rejected(CallerID(2), Secret("token-1")))
        #expect(bench.requestsInFlight.count == 1)
    }

    @Test("a renewal that returns an expired token is a failure, not a loop")
    func endedOnArrival() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1000))
        bench.tokenRequested(1)
        try bench.provider(gives: "token-2", life: .seconds(-10))
        try bench.storeTakesIt()
        #expect(bench.failure(for: 1)?.kind == .badReply)
        #expect(bench.requestsInFlight.count == 1)
        #expect(bench.saves.last?.tokens.refreshToken == Secret("refresh of token-2"))
    }

    @Test("a session whose token renews itself keeps it if the new one has ended on arrival, and renews with it again")
    func selfRenewingEndedOnArrival() throws {
        var bench = MachineBench(means: .liveToken)
        bench.advance(.seconds(900))
        bench.send(.renewalRequested(CallerID(1)))
        bench.tokenRequested(2, minValid: .seconds(500))
        let saves = bench.saves.count
        try bench.provider(gives: "token-2", life: .seconds(-10))
        #expect(bench.failure(for: 1)?.cause == "ended_on_arrival")
        #expect(bench.token(for: 2) == "token-1")
        #expect(bench.saves.count == saves)
        #expect(bench.snapshot?.token == Secret("token-1"))
        #expect(bench.snapshot?.status.state == .active)
        for _ in 1...5 where bench.requestsInFlight.count == 1 { _ = try bench.sleepUntilWake() }
        #expect(bench.elapsed < .seconds(1000))
        #expect(bench.renewals.last?.tokens.accessToken == Secret("token-1"))
        try #require(bench.requestsInFlight.count == 2)
        try bench.provider(gives: "token-3")
        try bench.storeTakesIt()
        #expect(bench.snapshot?.token == Secret("token-3"))
    }

    @Test(
        "a session whose token renews itself keeps it if the new one ends before the store has answered",
        arguments: [true, false], [nil, StoreError.notAnswering(after: .seconds(5))])
    func selfRenewingEndedDuringWrite(isRejected: Bool, error: StoreError?) throws {
        var bench = MachineBench(means: .liveToken)
        bench.advance(.seconds(700))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-2", life: .seconds(1))
        if isRejected { bench.send(.rejected(CallerID(2), Secret("token-1"))) }
        bench.advance(.seconds(5))
        if let error { try bench.storeRefusesIt(error) } else { try bench.storeTakesIt() }
        #expect(bench.failure(for: 1)?.cause == "ended_on_arrival")
        #expect(bench.snapshot?.token == (isRejected ? nil : Secret("token-1")))
        bench.send(.storeReady)
        let written = try #require(bench.saves.last)
        #expect(written.tokens.accessToken == Secret("token-1") && written.generation == 3)
        for _ in 1...5 where bench.requestsInFlight.count == 1 { _ = try bench.sleepUntilWake() }
        #expect(bench.elapsed < .seconds(1000))
        #expect(bench.renewals.last?.tokens.accessToken == Secret("token-1"))
    }

    /// What a run hands over that ended while its last renewal was written; the store still holds the token before it.
    private func handedOver() -> (bench: MachineBench, stored: SessionRecord) {
        var unsaved = MachineBench.record(token: "token-2", life: .seconds(1), at: .seconds(-5), revision: 2)
        var stored = MachineBench.record(token: "token-1", life: .seconds(1000), at: .seconds(-900))
        unsaved.tokens.refreshToken = nil
        stored.tokens.refreshToken = nil
        let bench = MachineBench(
            handedOver: HandedOverSession(record: unsaved, isStored: true, isUnsaved: true), means: .liveToken)
        return (bench, stored)
    }

    @Test("a token that renews itself is not written over one that has not ended, and gives way to it")
    func endedInHandover() throws {
        var (bench, stored) = handedOver()
        bench.send(.compared(.success(stored)))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-1")
        #expect(bench.saves.map(\.tokens.accessToken) == [Secret("token-1")] && bench.saves[0].generation == 3)
    }

    @Test("a token that renews itself and that the store still holds is tried if a later one is refused, and only once")
    func formerInStore() throws {
        var (bench, stored) = handedOver()
        // It has ended as well by this machine's clock, which may be wrong.
        stored.tokens.expiresAt = stored.tokens.issuedAt
        bench.send(.compared(.success(stored)))
        try bench.storeRefusesIt(.notAnswering(after: .seconds(5)))
        bench.send(.renewalRequested(CallerID(1)))
        #expect(bench.renewals.map(\.tokens.accessToken) == [Secret("token-2")])
        for _ in 1...2 {
            try bench.provider(fails: .invalidGrant)
            bench.send(.storeReread(try #require(bench.requestsInFlight.last), .success(stored)))
        }
        #expect(bench.renewals.map(\.tokens.accessToken) == [Secret("token-2"), Secret("token-1")])
        #expect(bench.failure(for: 1)?.kind == .signInRequired)
    }

    @Test("a token that renews itself and is found in the store shortly before its end is renewed before that")
    func foundLate() throws {
        var bench = MachineBench(life: .seconds(300), means: .liveToken)
        bench.advance(.seconds(301))
        bench.send(.renewalRequested(CallerID(1)))
        var stored = MachineBench.record(token: "token-2", life: .seconds(300), at: .seconds(20), revision: 2)
        stored.tokens.refreshToken = nil
        bench.advance(.seconds(3))
        try bench.provider(fails: .invalidGrant)
        bench.send(.storeReread(try #require(bench.requestsInFlight.last), .success(stored)))
        #expect(bench.snapshot?.token == Secret("token-2"))
        _ = try bench.sleepUntilWake()
        #expect(bench.elapsed < .seconds(313))
        #expect(bench.renewals.last?.tokens.accessToken == Secret("token-2"))
    }

    @Test("an answer without a new token keeps the old one and its end")
    func nothingNew() throws {
        var bench = MachineBench()
        bench.advance(.seconds(500))
        bench.send(.renewalRequested(CallerID(1)))
        bench.send(
            .requestEnded(bench.requestsInFlight[0], .success(Grant(issuedAt: bench.now.wall)), sentAt: bench.now))
        try bench.storeTakesIt()
        #expect(bench.snapshot?.token == Secret("token-1"))
        #expect(bench.snapshot?.status.expiresAt == MachineBench.t0 + 1000)
    }

    struct Unexpected: Error {}
}
