import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Back-off over a restart")
struct RenewalPauseTests {
    @Test("a session that failed goes on waiting, with the failures it had")
    func goesOn() throws {
        var bench = MachineBench()
        bench.advance(.seconds(1000))
        bench.send(.wake)
        for _ in 1...9 {
            try bench.provider(fails: .unreachable)
            _ = try bench.sleepUntilWake()
        }
        try bench.provider(fails: .temporary(AgentError(.rateLimited, "slowly"), retryAfter: .seconds(600)))
        let pause = try #require(bench.snapshot?.pause)
        #expect(pause.failures == 10 && pause.isRequestedByProvider)
        #expect(pause.until - pause.from >= .seconds(600))

        var next = restarted(with: pause, at: bench.now)
        let turn = next.handle(.tokenRequested(CallerID(1), minValid: nil), at: bench.now)
        #expect(!turn.actions.contains { if case .renew = $0 { true } else { false } })
        #expect(
            turn.replies.contains {
                guard case .failure(let error) = $0.reply, let wait = error.retryAfter else { return false }
                return wait > .seconds(590)
            })
    }

    @Test("whatever the clock was set to, no pause lasts longer than it was to", arguments: [-1e9, -10, 0, 10, 1e9])
    func bounded(shift: Double) {
        let from = WallTime(unixSeconds: 1_800_000_000)
        let pause = RenewalPause(failures: 3, from: from, until: from + .seconds(60), isRequestedByProvider: false)
        let left = pause.left(at: from + .seconds(shift))
        #expect(left >= .zero && left <= .seconds(60))
    }

    @Test("pauses are read as they were written, and nonsense is overlooked")
    func coding() throws {
        let from = WallTime(unixSeconds: 1_800_000_000)
        let pauses = [
            try SessionName("work"): RenewalPause(
                failures: 2, from: from, until: from + .seconds(4), isRequestedByProvider: false),
            try SessionName("home"): RenewalPause(
                failures: 7, from: from, until: from + .seconds(3600), isRequestedByProvider: true),
        ]
        #expect(RenewalPause.decode(RenewalPause.encode(pauses)) == pauses)
        #expect(RenewalPause.decode(Array("no JSON".utf8)).isEmpty)
        #expect(RenewalPause.decode(Array(#"{"a":{"failures":-1,"from":0,"until":1},"B!":3}"#.utf8)).isEmpty)
    }

    private func restarted(with pause: RenewalPause, at now: Moment) -> SessionMachine {
        var machine = SessionMachine(
            stored: MachineBench.record(token: "token-1", life: .seconds(1000)), means: .lasting, pause: pause,
            now: now, seed: 1)
        machine.handle(.begun, at: now)
        return machine
    }
}
