import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Network machine")
struct NetworkMachineTests {
    private typealias Bench = NetworkBench
    private static let reached = Reachability.reached(isProven: true)
    private static let away = Reachability.unreached(.providerUnreachable, cause: "timed_out")

    @Test("after a change nothing but a probe goes out, and calls wait for its answer")
    func probeFirst() throws {
        var bench = Bench(Bench.secure)
        #expect(bench.probes(of: Bench.secure).count == 1)
        #expect(bench.machine.clearance(for: Bench.secure) == nil)
        #expect(bench.machine.state(of: Bench.secure) == .limited)
        try bench.answer(Self.reached, for: Bench.secure)
        guard case .go? = bench.machine.clearance(for: Bench.secure) else { throw Unexpected() }
        #expect(bench.machine.state(of: Bench.secure) == .online)
        bench.roam()
        #expect(bench.probes(of: Bench.secure).count == 2)
        #expect(bench.machine.clearance(for: Bench.secure) == nil)
    }

    @Test("a caller waits for the probe and gets its result, unless the caller has gone by then")
    func callers() throws {
        var bench = Bench(Bench.secure)
        for number in 1...3 { bench.send(.clearanceRequested(CallerID(UInt64(number)), Bench.secure)) }
        bench.send(.callerGone(CallerID(2)))
        #expect(bench.probes(of: Bench.secure).count == 1 && bench.replies.isEmpty)
        try bench.answer(.page, for: Bench.secure)
        #expect(bench.replies == [CallerID(1): .blocked(.portal), CallerID(3): .blocked(.portal)])
        // An origin without a session is probed as well; a change and sleep only delay that.
        bench.send(.clearanceRequested(CallerID(4), Bench.plain))
        bench.roam()
        bench.send(.sleeping)
        bench.send(.resumed)
        #expect(bench.replies[CallerID(4)] == nil)
        try bench.answer(.reached(isProven: false), for: Bench.plain)
        guard case .go? = bench.replies[CallerID(4)] else { throw Unexpected() }
    }

    @Test("sessions are notified again after they were, if something has changed meanwhile")
    func notified() throws {
        var bench = Bench(Bench.secure)
        func notifications() -> Int { bench.actions.count { $0 == .notifySessions } }
        #expect(notifications() == 1)
        try bench.answer(Self.reached, for: Bench.secure)
        bench.roam(.offline)
        #expect(notifications() == 1)
        bench.send(.sessionsNotified)
        #expect(notifications() == 2)
        bench.send(.sessionsNotified)
        #expect(notifications() == 2)
    }

    @Test("one change is one probe to each provider, and no more while all is well")
    func oneProbe() throws {
        var bench = Bench(Bench.secure, Bench.plain)
        for origin in [Bench.secure, Bench.plain] { try bench.answer(Self.reached, for: origin) }
        bench.forgetActions()
        bench.advance(.seconds(86400))
        #expect(bench.actions.isEmpty)
    }

    @Test("connections are new after a change, and those in progress end if none of their addresses is left")
    func drops() {
        var bench = Bench(Bench.secure)
        #expect(bench.drops == [])
        bench.roam(move: false)
        bench.roam(move: true)
        #expect(bench.drops == [false, true])
    }

    @Test("a provider that only a VPN reaches is unreachable, and the rest is online")
    func unreachable() throws {
        var bench = Bench(Bench.secure, Bench.plain)
        try bench.answer(Self.reached, for: Bench.secure)
        try bench.answer(Self.away, for: Bench.plain)
        #expect(bench.picture?.state == .online)
        #expect(bench.picture?.origins == [Bench.secure: "reachable", Bench.plain: "provider_unreachable"])
        // Its sessions try by themselves, as often as their back-off lets them.
        #expect(bench.machine.state(of: Bench.plain) == .online)
        #expect(bench.wakeAt == nil)
    }

    @Test("while offline nothing is sent, and callers get that error without waiting")
    func offline() {
        var bench = Bench(Bench.secure)
        bench.forgetActions()
        bench.roam(.offline)
        bench.send(.clearanceRequested(CallerID(1), Bench.plain))
        #expect(bench.replies[CallerID(1)] == .blocked(.offline))
        bench.advance(.seconds(3600))
        #expect(bench.probes(of: Bench.secure).isEmpty && bench.probes(of: Bench.plain).isEmpty)
        #expect(bench.wakeAt == nil)
        #expect(bench.machine.clearance(for: Bench.secure) == .blocked(.offline))
        #expect(bench.picture?.state == .offline)
        bench.roam()
        #expect(bench.probes(of: Bench.secure).count == 1)
    }

    @Test("without a default route a provider next door is reached all the same")
    func linkLocal() throws {
        var bench = Bench(Bench.secure, Bench.plain, reach: .linkLocal)
        try bench.answer(Self.reached, for: Bench.plain)
        try bench.answer(.unreached(.offline, cause: "offline"), for: Bench.secure)
        #expect(bench.picture?.state == .limited)
        #expect(bench.machine.state(of: Bench.plain) == .online)
        #expect(bench.machine.state(of: Bench.secure) == .limited)
        // No route: only a change of the network can help.
        #expect(bench.wakeAt == nil)
    }

    @Test("a provider on this machine needs no network and no probe")
    func loopback() {
        var bench = Bench(Bench.own, reach: .offline)
        #expect(bench.probes(of: Bench.own).isEmpty)
        #expect(bench.machine.state(of: Bench.own) == .online)
        guard case .go? = bench.machine.clearance(for: Bench.own) else { return #expect(Bool(false)) }
        bench.send(.wake)
        #expect(bench.wakeAt == nil)
    }

    // MARK: Portals

    @Test(
        "a page, or a certificate for another name, in place of every provider is a portal",
        arguments: [Reachability.page, .foreignCertificate])
    func portal(word: Reachability) throws {
        var bench = Bench(Bench.secure, Bench.plain)
        try bench.answer(word, for: Bench.secure)
        try bench.answer(word, for: Bench.plain)
        #expect(bench.picture?.state == .portal)
        #expect(bench.machine.clearance(for: Bench.secure) == .blocked(.portal))
        #expect(bench.machine.state(of: Bench.plain) == .portal)
        #expect(bench.picture?.origins.values.allSatisfy { $0 == "captive_portal" } == true)
    }

    @Test("before a portal probes go on, ever slower down to one a minute, until it is passed")
    func passing() throws {
        var bench = Bench(Bench.secure)
        var pauses: [Duration] = []
        for _ in 1...12 {
            try bench.answer(.page, for: Bench.secure)
            let before = bench.elapsed
            pauses.append(try bench.sleepUntilWake() - before)
        }
        #expect(pauses.first == .seconds(5) && pauses.last == .seconds(60))
        #expect(pauses == pauses.sorted())
        try bench.answer(Self.reached, for: Bench.secure)
        #expect(bench.picture?.state == .online)
        #expect(bench.machine.state(of: Bench.secure) == .online)
        #expect(bench.wakeAt == nil)
    }

    @Test("a portal that the monitor reports stays until the monitor withdraws it, or a certificate disproves it")
    func monitorsPortal() throws {
        var bench = Bench(Bench.secure, Bench.plain, monitor: .portal)
        #expect(bench.machine.state(of: Bench.plain) == .portal)
        try bench.answer(.reached(isProven: false), for: Bench.plain)
        #expect(bench.picture?.state == .portal)
        #expect(bench.machine.clearance(for: Bench.plain) == .blocked(.portal))
        try bench.answer(Self.reached, for: Bench.secure)
        #expect(bench.machine.state(of: Bench.secure) == .online)
        #expect(bench.machine.state(of: Bench.plain) == .portal)
    }

    @Test("one provider with a bad certificate does not mean a portal while another one is reached")
    func badCertificate() throws {
        var bench = Bench(Bench.secure, Bench.plain)
        try bench.answer(.foreignCertificate, for: Bench.secure)
        try bench.answer(.reached(isProven: false), for: Bench.plain)
        #expect(bench.picture?.state == .online)
        #expect(bench.picture?.origins[Bench.secure] == "provider_unreachable")
    }

    @Test("a page in place of a real answer leads to a probe, which decides")
    func suspicion() throws {
        var bench = Bench(Bench.plain)
        try bench.answer(.reached(isProven: false), for: Bench.plain)
        bench.advance(.seconds(60))
        let round = try #require(bench.probes(of: Bench.plain).last)
        bench.send(.callEnded(Bench.plain, round: round, .page))
        #expect(bench.probes(of: Bench.plain).count == 2)
        #expect(bench.picture?.state == .online)
        try bench.answer(.reached(isProven: false), for: Bench.plain)
        bench.send(.callEnded(Bench.plain, round: round, .page))
        // Not at once again: the provider's own mistake may come with every answer.
        #expect(bench.probes(of: Bench.plain).count == 2)
        bench.advance(.seconds(60))
        bench.send(.callEnded(Bench.plain, round: round, .page))
        try bench.answer(.page, for: Bench.plain)
        #expect(bench.picture?.state == .portal)
    }

    @Test("the result of a call that began before the change says nothing about the new network")
    func earlierRound() throws {
        var bench = Bench(Bench.secure)
        let round = try #require(bench.probes(of: Bench.secure).last)
        bench.roam()
        bench.send(.callEnded(Bench.secure, round: round, Self.away))
        bench.send(.probed(Bench.secure, round: round, .page))
        #expect(bench.machine.clearance(for: Bench.secure) == nil)
    }

    // MARK: A monitor that is wrong

    @Test("if the monitor reports limited, providers are probed now and then, and one that answers is used")
    func limited() throws {
        var bench = Bench(Bench.secure, monitor: .limited)
        try bench.answer(Self.away, for: Bench.secure)
        #expect(bench.picture?.state == .limited)
        #expect(bench.machine.state(of: Bench.secure) == .limited)
        #expect(try bench.sleepUntilWake() == .seconds(30))
        try bench.answer(Self.reached, for: Bench.secure)
        #expect(bench.machine.state(of: Bench.secure) == .online)
        #expect(bench.picture?.state == .online)
        #expect(bench.wakeAt == nil)
    }

    // MARK: Sleep

    @Test("before sleep, renewals are delayed; after it, connections are new and each provider is probed first")
    func sleep() throws {
        var bench = Bench(Bench.secure, Bench.own)
        try bench.answer(Self.reached, for: Bench.secure)
        bench.send(.sleeping)
        #expect(bench.machine.state(of: Bench.secure) == .limited && bench.machine.state(of: Bench.own) == .limited)
        bench.forgetActions()
        bench.advance(.seconds(7200))
        bench.send(.resumed)
        #expect(bench.drops == [false])
        #expect(bench.machine.state(of: Bench.secure) == .limited && bench.machine.state(of: Bench.own) == .online)
        try bench.answer(Self.reached, for: Bench.secure)
        #expect(bench.machine.state(of: Bench.secure) == .online)
    }

    @Test("a network that needs some seconds after waking is waited for, thirty at most")
    func waking() throws {
        var bench = Bench(Bench.secure)
        bench.send(.sleeping)
        bench.send(.resumed)
        var probes = 0
        while bench.machine.state(of: Bench.secure) != .online {
            try bench.answer(Self.away, for: Bench.secure)
            probes += 1
            guard bench.machine.state(of: Bench.secure) == .limited else { break }
            _ = try bench.sleepUntilWake()
        }
        #expect(bench.elapsed == .seconds(30))
        #expect((6...20).contains(probes))
        // From here on the session tries by itself.
        #expect(bench.machine.state(of: Bench.secure) == .online)
    }

    @Test("a machine that wakes without a network waits for one without a timer")
    func wakingOffline() throws {
        var bench = Bench(Bench.secure)
        bench.roam(.offline)
        bench.send(.sleeping)
        bench.send(.resumed)
        #expect(bench.wakeAt == nil)
        bench.roam()
        try bench.answer(Self.reached, for: Bench.secure)
        #expect(bench.machine.state(of: Bench.secure) == .online)
    }

    struct Unexpected: Error {}
}
