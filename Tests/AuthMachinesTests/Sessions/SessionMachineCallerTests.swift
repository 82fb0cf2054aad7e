import AuthMachines
import AuthModel
import AuthWire
import Testing

/// What a caller's request does for a session whose token has ended.
@Suite("Callers of a stale session")
struct SessionMachineCallerTests {
    /// Stale since so many tries have failed; the last one has just done so.
    private func stale(after failures: Int = 9, seed: UInt64 = 1) throws -> MachineBench {
        var bench = MachineBench(seed: seed)
        bench.advance(.seconds(1000))
        bench.send(.wake)
        for _ in 1..<failures {
            try bench.provider(fails: .unreachable)
            _ = try bench.sleepUntilWake()
        }
        try bench.provider(fails: .unreachable)
        return bench
    }

    /// One whose next try by itself is not near.
    private func patient() throws -> MachineBench {
        for seed in 1...100 {
            let bench = try stale(seed: UInt64(seed))
            if let wake = bench.wakeAt, wake - bench.now.boot > .seconds(60) { return bench }
        }
        throw AgentError(.internal_, "no seed waits long")
    }

    @Test("when the provider is back, a caller gets a token, and not the earlier failure")
    func isBack() throws {
        var bench = try patient()
        bench.advance(RenewalPolicy.callerSpacing)
        let requestsInFlight = bench.requestsInFlight.count
        bench.tokenRequested(1)
        #expect(bench.requestsInFlight.count == requestsInFlight + 1)
        try bench.provider(gives: "token-2")
        try bench.storeTakesIt()
        #expect(bench.token(for: 1) == "token-2")
    }

    @Test("callers in a loop begin one try in five seconds, and learn when the next one is possible")
    func spaced() throws {
        var bench = try patient()
        let before = bench.requestsInFlight.count
        var caller: UInt64 = 0
        for _ in 0..<60 {
            bench.advance(.seconds(1))
            let requestsInFlight = bench.requestsInFlight.count
            caller += 1
            bench.tokenRequested(caller)
            if bench.requestsInFlight.count > requestsInFlight {
                try bench.provider(fails: .unreachable)
            } else {
                let wait = try #require(bench.failure(for: caller)?.retryAfter)
                #expect(wait > .zero && wait <= RenewalPolicy.callerSpacing)
            }
        }
        // A try by itself, which jitter may place close to the one before, counts too.
        #expect((12...14).contains(bench.requestsInFlight.count - before))
    }

    @Test("a provider's Retry-After is waited for, and no longer than it says")
    func held() throws {
        var bench = try patient()
        bench.advance(RenewalPolicy.callerSpacing)
        bench.tokenRequested(1)
        try bench.provider(fails: .temporary(AgentError(.rateLimited, "slowly"), retryAfter: .seconds(20)))
        let requestsInFlight = bench.requestsInFlight.count
        bench.advance(.seconds(19))
        bench.tokenRequested(2)
        #expect(bench.requestsInFlight.count == requestsInFlight)
        #expect(try #require(bench.failure(for: 2)?.retryAfter) <= .seconds(1))
        bench.advance(.seconds(1))
        bench.tokenRequested(3)
        #expect(bench.requestsInFlight.count == requestsInFlight + 1)
    }

    @Test("a program that reports a 401 begins a try, too")
    func rejects() throws {
        var bench = try patient()
        bench.advance(RenewalPolicy.callerSpacing)
        let requestsInFlight = bench.requestsInFlight.count
        bench.send(.rejected(CallerID(1), Secret("token-1")))
        #expect(bench.requestsInFlight.count == requestsInFlight + 1)
    }

    @Test("a restart does not allow callers a new attempt")
    func restart() throws {
        let bench = try patient()
        let pause = try #require(bench.snapshot?.pause)
        var next = SessionMachine(
            stored: MachineBench.record(token: "token-1", life: .seconds(1000)), means: .lasting, pause: pause,
            now: bench.now, seed: 1)
        next.handle(.begun, at: bench.now)
        func tries(after wait: Duration, _ caller: UInt64) -> Int {
            let later = Moment(boot: bench.now.boot + wait, wall: bench.now.wall + wait)
            return next.handle(.tokenRequested(CallerID(caller), minValid: nil), at: later).actions.count { action in
                // The first try of a run may begin with a rewrite, which shows that the store accepts its result.
                switch action {
                case .renew, .rewrite: true
                default: false
                }
            }
        }
        #expect(tries(after: .seconds(4), 1) == 0)
        #expect(tries(after: .seconds(5), 2) == 1)
    }
}
