import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Session machine, networks")
struct SessionMachineNetworkTests {
    @Test(
        "while offline or before a portal a caller gets that error at once, and nothing is sent",
        arguments: [(NetworkState.offline, ErrorKind.offline), (.portal, .captivePortal)])
    func networkError(state: NetworkState, kind: ErrorKind) throws {
        var bench = MachineBench()
        bench.send(.networkChanged(state))
        bench.tokenRequested(1)
        #expect(bench.token(for: 1) == "token-1")
        bench.advance(.seconds(1000))
        bench.send(.wake)
        bench.tokenRequested(2)
        bench.send(.renewalRequested(CallerID(3)))
        bench.send(.rejected(CallerID(4), Secret("token-1")))
        for caller: UInt64 in 2...4 { #expect(bench.failure(for: caller)?.kind == kind) }
        #expect(bench.requestsInFlight.isEmpty)
        #expect(bench.snapshot?.status.state == .stale)
        #expect(bench.snapshot?.status.cause == kind.rawValue)
    }

    @Test("when the network is back, a session without a token goes before one that still has one", arguments: 1...20)
    func urgentFirst(seed: UInt64) throws {
        var ended = MachineBench(seed: seed)
        var live = MachineBench(seed: seed)
        for away in [Duration.seconds(1000), .seconds(900)] {
            var bench = MachineBench(seed: seed)
            bench.send(.networkChanged(.offline))
            bench.advance(away)
            bench.send(.wake)
            bench.send(.networkChanged(.online))
            if away == .seconds(1000) { ended = bench } else { live = bench }
        }
        let first = try ended.sleepUntilWake() - .seconds(1000)
        let second = try live.sleepUntilWake() - .seconds(900)
        #expect(first <= .milliseconds(500) && second >= .milliseconds(500) && second <= .seconds(2))
    }

    @Test("a token that ended while offline is renewed within half a second of the network's return", arguments: 1...20)
    func endedWhileOffline(seed: UInt64) throws {
        // So short a life that its renewal is planned for after its end.
        var bench = MachineBench(life: .seconds(2), seed: seed)
        bench.send(.networkChanged(.offline))
        bench.advance(.milliseconds(2100))
        bench.send(.wake)
        #expect(bench.snapshot?.status.state == .stale)
        bench.send(.networkChanged(.online))
        #expect(try bench.sleepUntilWake() <= .milliseconds(2600))
        #expect(bench.requestsInFlight.count == 1)
    }
}
