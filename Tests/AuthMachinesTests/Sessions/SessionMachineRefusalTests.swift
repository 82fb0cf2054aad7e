import AuthMachines
import AuthModel
import AuthWire
import Testing

/// Final refusals of a renewal while the access token is valid.
@Suite("Session machine: early refusals")
struct SessionMachineRefusalTests {
    private static let stored = MachineBench.record(token: "token-1", life: .seconds(1000))

    /// The provider's final refusal, and the store with the same tokens.
    private func refuse(
        _ bench: inout MachineBench, stored: Result<SessionRecord?, StoreError> = .success(stored)
    ) throws {
        try bench.provider(fails: .invalidGrant)
        bench.send(.storeReread(try #require(bench.requestsInFlight.last), stored))
    }

    /// The first renewal was refused.
    private func refused(
        life: Duration? = .seconds(1000), after elapsed: Duration = .seconds(700), means: RenewalMeans = .lasting,
        isStored: Bool = false
    ) throws -> MachineBench {
        var bench = MachineBench(life: life, fresh: !isStored, means: means)
        if !isStored { try bench.storeTakesIt() }
        bench.advance(elapsed)
        bench.send(.renewalRequested(CallerID(1)))
        bench.tokenRequested(2, minValid: .seconds(900))
        try refuse(&bench)
        return bench
    }

    private func expectEnd(_ bench: MachineBench) {
        #expect(bench.snapshot?.status.state == .signInRequired)
        #expect(bench.snapshot?.status.cause == "refused" && bench.snapshot?.token == nil)
    }

    @Test("the token is served, the caller of a renewal gets the refusal, and the status says when it is checked")
    func first() throws {
        var bench = try refused()
        let error = try #require(bench.failure(for: 1))
        #expect(error.kind == .refused && error.cause == "renewal_refused" && error.retryable)
        #expect(error.providerMessage == "token revoked")
        #expect(bench.token(for: 2) == "token-1")
        let status = try #require(bench.snapshot?.status)
        #expect(status.state == .active && status.cause == "renewal_refused" && status.lastError != nil)
        #expect(status.refreshAt == MachineBench.t0 + 970)
        bench.tokenRequested(3, minValid: .seconds(900))
        bench.send(.networkChanged(.offline))
        bench.send(.networkChanged(.online))
        bench.send(.checkDue)
        #expect(bench.token(for: 3) == "token-1")
        #expect(bench.requestsInFlight.count == 1)
    }

    @Test("the renewal is repeated once near the end of the token; a refusal after the end is final")
    func last() throws {
        var bench = try refused()
        #expect(try bench.sleepUntilWake() == .seconds(970))
        #expect(bench.requestsInFlight.count == 2)
        try refuse(&bench)
        #expect(bench.snapshot?.status.state == .active && bench.snapshot?.token == Secret("token-1"))
        #expect(try bench.sleepUntilWake() == .seconds(1000))
        #expect(bench.snapshot?.status.state == .stale)
        #expect(try bench.sleepUntilWake() == .seconds(1002))
        #expect(bench.requestsInFlight.count == 3)
        try refuse(&bench)
        expectEnd(bench)
        #expect(bench.wakeAt == nil && bench.deletes == 0)
    }

    @Test("a provider that renews only after the end of the token by its own clock loses no session")
    func renewsLate() throws {
        var bench = try refused(after: .seconds(990))
        _ = try bench.sleepUntilWake()
        bench.tokenRequested(4)
        try refuse(&bench)
        let error = try #require(bench.failure(for: 4))
        #expect(error.cause == "renewal_refused" && error.kind == .providerUnreachable && error.retryable)
        #expect(bench.snapshot?.status.state == .stale)
        #expect(try bench.sleepUntilWake() == .seconds(1002))
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.state == .active && bench.snapshot?.status.cause == nil)
        #expect(bench.snapshot?.token == Secret("token-2"))
    }

    @Test("a token from the store may have come with a slow response: it is tried until 32 s after the end")
    func unknownResponse() throws {
        var bench = try refused(after: .seconds(990), isStored: true)
        var tries: [Duration] = []
        while bench.snapshot?.status.state != .signInRequired, tries.count < 20 {
            let now = try bench.sleepUntilWake()
            guard tries.last != now, bench.requestsInFlight.count == tries.count + 2 else { continue }
            tries.append(now)
            try refuse(&bench)
        }
        #expect(tries == [1002, 1007, 1014, 1032].map(Duration.seconds))
        expectEnd(bench)
    }

    @Test("a provider that counts a token's life from the end of a slow response loses no session")
    func slowResponse() throws {
        var bench = try refused(after: .seconds(700))
        bench.send(.renewalRequested(CallerID(5)))
        let sentAt = bench.now
        bench.advance(.seconds(20))
        try bench.provider(gives: "token-2", sentAt: sentAt)
        try bench.storeTakesIt()
        // It lives from 700 to 1700 here, and to 1720 there.
        bench.advance(.seconds(985))
        bench.send(.wake)
        try refuse(&bench, stored: .success(bench.machine.record))
        var now = try bench.sleepUntilWake()
        #expect(now == .seconds(1710))
        try refuse(&bench, stored: .success(bench.machine.record))
        // The last one.
        now = try bench.sleepUntilWake()
        #expect(now == .seconds(1722))
        try bench.provider(gives: "token-3")
        try bench.storeTakesIt()
        #expect(bench.snapshot?.token == Secret("token-3"))
    }

    @Test("without a network near the end, the renewal is sent when the network is back, and a refusal is then final")
    func away() throws {
        var bench = try refused()
        bench.send(.networkChanged(.offline))
        bench.advance(.seconds(500))
        bench.send(.wake)
        #expect(bench.snapshot?.status.state == .stale)
        bench.send(.networkChanged(.online))
        _ = try bench.sleepUntilWake()
        #expect(bench.elapsed < .seconds(1203))
        try refuse(&bench)
        expectEnd(bench)
    }

    @Test("a failed request near the end is repeated before it")
    func failsNearEnd() throws {
        var bench = try refused()
        _ = try bench.sleepUntilWake()
        try bench.provider(fails: .unreachable)
        _ = try bench.sleepUntilWake()
        #expect(bench.elapsed < .seconds(975))
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.snapshot?.token == Secret("token-2"))
    }

    @Test("a 401 for the token starts the next request at once, whose refusal is final")
    func rejected() throws {
        var bench = try refused()
        bench.send(.rejected(CallerID(3), Secret("token-1")))
        #expect(bench.requestsInFlight.count == 2)
        try refuse(&bench)
        #expect(bench.failure(for: 3)?.kind == .signInRequired)
        expectEnd(bench)
    }

    @Test("a 401 for a new token may mean that a right is missing: the refusal of the renewal ends no session")
    func rejectedYoung() throws {
        var bench = MachineBench()
        bench.advance(.seconds(5))
        bench.send(.rejected(CallerID(1), Secret("token-1")))
        try refuse(&bench)
        #expect(bench.failure(for: 1)?.cause == "renewal_refused")
        #expect(bench.snapshot?.status.state == .active && bench.snapshot?.token == Secret("token-1"))
        try expectIgnored(&bench)
    }

    @Test("the same 401 after a refusal changes nothing, until the token is old enough")
    func refusedAndRejectedYoung() throws {
        var bench = try refused(after: .seconds(1))
        try expectIgnored(&bench)
        bench.advance(.seconds(40))
        bench.send(.rejected(CallerID(4), Secret("token-1")))
        #expect(bench.requestsInFlight.count == 2)
        try refuse(&bench)
        expectEnd(bench)
    }

    /// A 401 for a young token whose renewal was refused.
    private func expectIgnored(_ bench: inout MachineBench) throws {
        bench.send(.rejected(CallerID(3), Secret("token-1")))
        guard case .done = bench.answer(to: 3) else { throw Unexpected() }
        #expect(bench.requestsInFlight.count == 1)
        #expect(bench.snapshot?.status.state == .active && bench.snapshot?.token == Secret("token-1"))
    }

    @Test("after a 401 without a network, the renewal is sent as soon as the network is back")
    func rejectedAway() throws {
        var bench = try refused()
        bench.send(.networkChanged(.offline))
        bench.send(.rejected(CallerID(3), Secret("token-1")))
        #expect(bench.failure(for: 3)?.kind == .offline && bench.snapshot?.token == nil)
        bench.send(.networkChanged(.online))
        _ = try bench.sleepUntilWake()
        #expect(bench.elapsed < .seconds(703))
        try refuse(&bench)
        expectEnd(bench)
    }

    @Test("a token without a known end is served until a program gets a 401")
    func noEnd() throws {
        var bench = try refused(life: nil)
        #expect(bench.snapshot?.status.state == .active && bench.wakeAt == nil)
        bench.advance(.seconds(100_000))
        bench.send(.wake)
        bench.tokenRequested(3, minValid: .seconds(60))
        #expect(bench.token(for: 3) == "token-1" && bench.requestsInFlight.count == 1)
        bench.send(.rejected(CallerID(4), Secret("token-1")))
        try refuse(&bench)
        expectEnd(bench)
    }

    @Test("a token that authorizes its own renewal was refused itself: that is final")
    func selfRenewing() throws {
        expectEnd(try refused(means: .liveToken))
    }

    @Test("tokens of another writer and a new sign-in end the check", arguments: [true, false])
    func replaced(isStored: Bool) throws {
        var bench = try refused()
        let theirs = MachineBench.record(
            token: "theirs", life: .seconds(1000), at: .seconds(700), revision: 2, refresh: "refresh-2")
        if isStored {
            bench.send(.storeChanged)
            bench.send(.compared(.success(theirs)))
        } else {
            let other = MachineBench.otherSignIn(token: "theirs", life: .seconds(1000), at: bench.elapsed)
            bench.send(.replaced(other, sentAt: bench.now))
        }
        let status = try #require(bench.snapshot?.status)
        #expect(bench.snapshot?.token == Secret("theirs") && status.cause == nil && status.lastError == nil)
        #expect((status.refreshAt ?? 0) > MachineBench.t0 + 970)
        #expect(bench.snapshot?.pause == nil)
    }

    @Test("an unreadable store does not cause more requests")
    func storeLocked() throws {
        var bench = MachineBench()
        bench.advance(.seconds(700))
        bench.send(.renewalRequested(CallerID(1)))
        try refuse(&bench, stored: .failure(.locked))
        #expect(bench.failure(for: 1)?.cause == "renewal_refused")
        #expect(try bench.sleepUntilWake() == .seconds(970))
    }

    @Test("a clock that is set moves the date and not the check, unless the token has ended by the new clock")
    func clockSet() throws {
        var bench = try refused(isStored: true)
        bench.setClock(by: .seconds(7200))
        #expect(bench.snapshot?.status.state == .stale)
        _ = try bench.sleepUntilWake()
        #expect(bench.elapsed < .seconds(701))
        #expect(bench.requestsInFlight.count == 2)

        var fresh = MachineBench(fresh: true)
        try fresh.storeTakesIt()
        fresh.advance(.seconds(700))
        fresh.send(.renewalRequested(CallerID(1)))
        try refuse(&fresh)
        fresh.setClock(by: .seconds(7200))
        #expect(fresh.snapshot?.status.refreshAt == MachineBench.t0 + 7200 + 970)
        #expect(try fresh.sleepUntilWake() == .seconds(970))
    }

    @Test("the next run asks again after five minutes, however often it starts")
    func restart() throws {
        let pause = try #require(refused().snapshot?.pause)
        #expect(pause.until.unixSeconds - pause.from.unixSeconds == 270)
        var early = try #require(refused(after: .seconds(100)).snapshot?.pause)
        #expect(early.until.unixSeconds - early.from.unixSeconds == 300)
        for _ in 1...3 {
            let now = MachineBench.moment(.seconds(200))
            var machine = SessionMachine(stored: Self.stored, means: .lasting, pause: early, now: now, seed: 1)
            let turn = machine.handle(.begun, at: now)
            #expect(turn.wakeUp == MachineBench.moment(.seconds(400)).boot)
            for case .publish(let snapshot) in turn.actions { early = try #require(snapshot.pause) }
        }
    }

    private struct Unexpected: Error {}
}
