import AuthMachines
import AuthModel
import AuthWire
import Testing

/// Lifetimes are measured on CLOCK_BOOTTIME; dates are for users, for the provider, and for the next run.
@Suite("Session machine, clocks")
struct SessionMachineClockTests {
    @Test("a clock set by hours moves no lifetime that was measured, and the dates follow", arguments: [-7200, 7200])
    func measuredLifeStands(seconds: Int) throws {
        var bench = MachineBench(fresh: true)
        try bench.storeTakesIt()
        bench.advance(.seconds(100))
        let wake = bench.wakeAt
        bench.setClock(by: .seconds(seconds))
        #expect(bench.wakeAt == wake)
        bench.tokenRequested(1, minValid: .seconds(890))
        #expect(bench.token(for: 1) == "token-1")
        #expect(bench.snapshot?.status.expiresAt == MachineBench.t0 + Double(seconds) + 1000)
        #expect(bench.saves.last?.tokens.issuedAt.unixSeconds == MachineBench.t0 + Double(seconds))
        bench.advance(.seconds(901))
        bench.send(.wake)
        #expect(bench.snapshot?.token == nil)
    }

    @Test("a chosen session is marked later than the former one, whatever date that has", arguments: [-600, 600])
    func defaultChosen(seconds: Int) throws {
        var bench = MachineBench()
        let former = WallTime(unixSeconds: MachineBench.t0 + Double(seconds))
        bench.send(.defaultChosen(after: former))
        let mark = try #require(bench.saves.last?.defaultSince)
        #expect(mark > former && mark.unixSeconds >= MachineBench.t0)
        try bench.storeTakesIt()
        // The clock is set back, and it is chosen once more.
        bench.setClock(by: .seconds(-100))
        bench.send(.defaultChosen(after: former))
        #expect(try #require(bench.snapshot?.defaultSince) > mark)
    }

    @Test("a small correction of the clock does not cause a write")
    func trimmed() throws {
        var bench = MachineBench(fresh: true)
        try bench.storeTakesIt()
        bench.setClock(by: .milliseconds(900))
        #expect(bench.saves.count == 1)
    }

    @Test("a clock set while an answer is on its way to the store moves neither the old token's life nor the new one's")
    func setWhileSaving() throws {
        var bench = MachineBench(fresh: true)
        try bench.storeTakesIt()
        bench.advance(.seconds(500))
        bench.send(.renewalRequested(CallerID(1)))
        try bench.provider(gives: "token-2")
        bench.setClock(by: .seconds(3600))
        #expect(bench.snapshot?.token == Secret("token-1"))
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.expiresAt == MachineBench.t0 + 500 + 1000 + 3600)
        bench.advance(.seconds(990))
        bench.tokenRequested(2, minValid: .zero)
        #expect(bench.token(for: 2) == "token-2")
    }

    @Test("a session read under a wrong clock lives by its dates once the clock is right")
    func rightedClock() {
        var bench = MachineBench(clockOff: .seconds(-5000))
        bench.setClock(by: .seconds(5990))
        #expect(bench.snapshot?.status.expiresAt == MachineBench.t0 + 1000)
        bench.advance(.seconds(11))
        bench.send(.wake)
        #expect(bench.snapshot?.token == nil)
    }

    @Test("under a clock that is years behind a stored token lives no longer than its life, and is renewed at once")
    func clockFarBehind() throws {
        var bench = MachineBench(clockOff: .seconds(-200_000_000))
        #expect(try bench.sleepUntilWake() <= .seconds(30))
        #expect(bench.requestsInFlight.count == 1)
        bench.advance(.seconds(1000))
        bench.send(.wake)
        #expect(bench.snapshot?.token == nil)
    }

    @Test("under a clock that is some seconds behind a stored token lives no longer than its life either")
    func clockBehind() throws {
        var bench = MachineBench(life: .seconds(10), clockOff: .seconds(-5))
        bench.advance(.milliseconds(10_001))
        bench.send(.wake)
        #expect(bench.snapshot?.token == nil)
    }

    @Test(
        "the clock is set back: a token that was read lives no longer if it can be renewed, or would be of the future",
        arguments: [(true, -7200), (true, -300), (false, -7200)])
    func setBack(canRenew: Bool, jump: Int) throws {
        // Dated and read under the same clock, when it was 600 of its 1000 seconds old.
        var bench = MachineBench(canRenew: canRenew, clockOff: .seconds(600))
        bench.setClock(by: .seconds(jump))
        if canRenew {
            // Callers hear of that end, and the next run reads it.
            let end = bench.now.wall + .seconds(400)
            #expect(bench.snapshot?.status.expiresAt == end.unixSeconds)
            #expect(try #require(bench.saves.last).tokens.expiresAt == end)
        }
        bench.advance(.seconds(401))
        bench.send(.wake)
        #expect(bench.snapshot?.token == nil)
    }

    @Test("a token that cannot be renewed is good again when a clock that was ahead is set right")
    func setRight() {
        var bench = MachineBench(canRenew: false, clockOff: .seconds(7200))
        #expect(bench.snapshot?.token == nil)
        bench.setClock(by: .seconds(-7200))
        #expect(bench.snapshot?.token != nil)
    }

    @Test("a token that was read and has lived its life is not alive again because the clock is set", arguments: 0..<20)
    func noSecondLife(jump: Int) throws {
        var bench = MachineBench(canRenew: false, clockOff: .seconds(-7200))
        bench.advance(.seconds(1001))
        bench.send(.wake)
        #expect(bench.snapshot?.token == nil)
        bench.setClock(by: .seconds((jump - 10) * 1800))
        #expect(bench.snapshot?.token == nil)
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == nil)
    }
}
