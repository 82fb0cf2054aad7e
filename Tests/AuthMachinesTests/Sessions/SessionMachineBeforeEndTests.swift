import AuthMachines
import AuthModel
import AuthWire
import Testing

/// Sessions whose access token authorizes its own renewal.
@Suite("Session machine: a token that renews itself")
struct SessionMachineBeforeEndTests {
    private static let life = Duration.seconds(120)

    @Test("is renewed before its end if the provider is back for the last 16 s of its life", arguments: 1...200)
    func backInTime(seed: UInt64) throws {
        var bench = MachineBench(life: Self.life, seed: seed, means: .liveToken)
        let back = Self.life - .seconds(16)
        while try bench.sleepUntilWake() < back {
            try bench.provider(fails: .unreachable)
        }
        #expect(bench.elapsed <= Self.life - .seconds(7))
        try bench.provider(gives: "token-2", life: Self.life)
        try bench.storeTakesIt()
        #expect(bench.snapshot?.status.state == .active)
    }

    @Test("is renewed before its end even if the provider asks for short waits", arguments: 1...50)
    func shortWaits(seed: UInt64) throws {
        var bench = MachineBench(life: .seconds(3600), seed: seed, means: .liveToken)
        while try bench.sleepUntilWake() < .seconds(3600 - 16) {
            try bench.provider(fails: .temporary(AgentError(.rateLimited, "slowly"), retryAfter: .seconds(2)))
        }
        #expect(bench.elapsed <= .seconds(3600 - 7))
    }

    @Test("is tried closer together as its end comes near, and seldom after that", arguments: 1...20)
    func closerTogether(seed: UInt64) throws {
        var bench = MachineBench(life: .seconds(3600), seed: seed, means: .liveToken)
        var tries: [Duration] = []
        while try bench.sleepUntilWake() < .seconds(8000) {
            // It wakes at its end, too, and sends no request then.
            guard bench.requestsInFlight.count > tries.count else { continue }
            tries.append(bench.elapsed)
            try bench.provider(fails: .unreachable)
        }
        let (before, after) = (tries.filter { $0 < .seconds(3600) }, tries.filter { $0 >= .seconds(3600) })
        #expect(try #require(before.last) >= .seconds(3597))
        for (first, second) in zip(before, before.dropFirst()) {
            #expect(second - first <= max(.seconds(1), (.seconds(3600) - first) / 2))
        }
        #expect(before.count < 60 && after.count < 60)
    }

    @Test("waits as long as the provider asks for, even beyond its end")
    func retryAfter() throws {
        var bench = MachineBench(life: Self.life, means: .liveToken)
        let first = try bench.sleepUntilWake()
        try bench.provider(fails: .temporary(AgentError(.rateLimited, "slowly"), retryAfter: .seconds(300)))
        while bench.requestsInFlight.count == 1 { _ = try bench.sleepUntilWake() }
        #expect(bench.elapsed >= first + .seconds(300))
    }

    @Test("is tried again in time after a restart, whatever back-off was left", arguments: 1...20)
    func restarted(seed: UInt64) throws {
        let now = MachineBench.moment(.seconds(90))
        let pause = RenewalPause(
            failures: 9, from: now.wall, until: now.wall + .seconds(250), isRequestedByProvider: false)
        var machine = SessionMachine(
            stored: MachineBench.record(token: "token-1", life: Self.life), means: .liveToken, pause: pause, now: now,
            seed: seed)
        let deadline = machine.handle(.begun, at: now).wakeUp
        #expect(try #require(deadline) - now.boot <= .seconds(15))
    }

    @Test("keeps the usual waits if something else renews it")
    func lasting() throws {
        var longest = Duration.zero
        for seed in 1...20 as ClosedRange<UInt64> {
            var bench = MachineBench(life: .seconds(3600), seed: seed)
            var last = try bench.sleepUntilWake()
            while last < .seconds(3500) {
                try bench.provider(fails: .unreachable)
                let woken = try bench.sleepUntilWake()
                if woken < .seconds(3600) { longest = max(longest, woken - last) }
                last = woken
            }
        }
        #expect(longest > .seconds(100))
    }
}
