import AuthWire
import Simulation
import Testing

@Suite("The rules of simulated clusters", .timeLimit(.minutes(5)))
struct ClusterRuleTests {
    private typealias Step = SimulationStep<ClusterOperation>

    /// Times of messages follow from the seed: a fault need not show with each.
    private static let seeds = 1...10 as ClosedRange<UInt64>

    /// The clock of host 1 is two minutes behind.
    private static func schedules(_ steps: [Step], grace: Duration = .zero) -> [ClusterSchedule] {
        seeds.map { ClusterSchedule(seed: $0, grace: grace, clockErrors: [.zero, .seconds(-120)], steps: steps) }
    }

    /// Host 0 is killed after it has sent its refresh token, and before the response arrives.
    private static func killed(slow: Duration) -> [Step] {
        [
            Step(.events(0), .provider(.slow(slow))), Step(.events(0), .ask(0, .renewal)),
            Step(.time(.seconds(1)), .kill(0, down: .seconds(60))),
        ]
    }

    /// Host 1 waits for the result of a request of host 0, and sends the token again. Host 0 can reach etcd again, with its
    /// result, after that.
    private static let twoResults = [
        Step(.events(0), .provider(.slow(.seconds(2)))), Step(.events(0), .ask(0, .renewal)),
        Step(.time(.milliseconds(1500)), .cut(0, for: .seconds(66))), Step(.time(.seconds(1)), .ask(1, .renewal)),
    ]

    private static func steps(showing fault: ClusterInjectedFault) -> [Step] {
        switch fault {
        case .renewsWithoutHold:
            [
                Step(.events(0), .provider(.slow(.seconds(2)))), Step(.events(0), .ask(0, .renewal)),
                Step(.events(0), .ask(1, .renewal)),
            ]
        case .releasesEarly:
            [
                Step(.events(0), .provider(.slow(.seconds(12)))), Step(.events(0), .ask(0, .renewal)),
                Step(.time(.seconds(1)), .ask(1, .renewal)),
            ]
        case .forgetsIntents: killed(slow: .seconds(29)) + [Step(.time(.seconds(1)), .ask(1, .renewal))]
        // Host 1 waits for the end of that request, and a token is too young to be rejected for half a minute.
        case .keepsNoLease: killed(slow: .seconds(12)) + [Step(.time(.seconds(90)), .ask(1, .reject))]
        // Host 0 tries again by itself.
        case .losesTokens, .endsSessions: [Step(.events(0), .ask(0, .renewal))]
        case .missesChanges:
            [
                Step(.events(0), .cut(1, for: .seconds(60))), Step(.time(.seconds(1)), .ask(0, .renewal)),
                Step(.time(.seconds(10)), .ask(0, .token)),
            ]
        case .hidesSignOuts: [Step(.events(0), .ask(0, .signOut))]
        case .writesOldTokens: twoResults + [Step(.time(.seconds(90)), .ask(0, .token))]
        case .delaysReports: [Step(.events(0), .ask(0, .renewal))]
        case .writesOwnDates: [Step(.events(0), .ask(1, .renewal))]
        case .losesWrites: [Step(.events(0), .ask(0, .renewal))]
        case .endsNoLease: killed(slow: .seconds(12))
        case .forgetsCallers: [Step(.events(0), .ask(0, .signOut))]
        // The change may arrive after the sign-out.
        case .writesWithoutHold: [Step(.events(0), .ask(1, .userChange)), Step(.events(0), .ask(0, .signOut))]
        }
    }

    @Test(
        "an injected fault is found, and its schedule breaks no rule without it",
        arguments: ClusterInjectedFault.allCases)
    func faults(fault: ClusterInjectedFault) {
        let schedules = Self.schedules(Self.steps(showing: fault), grace: .seconds(600))
        let found = schedules.map { ClusterSimulation.play($0, injecting: fault).violation }
        #expect(found.contains { $0?.rule == fault.rule }, "\(found)")
        for schedule in schedules {
            let violation = ClusterSimulation.play(schedule).violation
            #expect(violation == nil, "\(ClusterSimulation.report(schedule))")
        }
    }

    @Test("a host that cannot reach etcd for long may lose its tokens: another one sends the former token again")
    func cutOff() {
        let steps = [
            // Its connection is cut after the provider has replaced the token, and before the response arrives.
            Step(.events(0), .provider(.slow(.seconds(2)))), Step(.events(0), .ask(0, .renewal)),
            Step(.time(.milliseconds(1500)), .cut(0, for: .seconds(200))),
            // The lease of host 0 ends after ten seconds, its request may take thirty, and its write fifteen.
            Step(.time(.seconds(1)), .ask(1, .renewal)), Step(.time(.seconds(90)), .ask(1, .token)),
        ]
        for schedule in Self.schedules(steps) {
            let outcome = ClusterSimulation.play(schedule)
            #expect(outcome.violation == nil, "\(ClusterSimulation.report(schedule))")
            #expect(outcome.coverage.reuses == 1)
        }
    }

    @Test("a host that has lost its lease, and cannot reach etcd for 20 s after a late response, still writes")
    func lateWrite() {
        let steps = [
            Step(.events(0), .provider(.slow(.seconds(29)))), Step(.events(0), .ask(0, .renewal)),
            // Its lease ends.
            Step(.time(.seconds(2)), .pause(0, for: .seconds(12))), Step(.time(.seconds(1)), .ask(1, .renewal)),
            Step(.time(.seconds(25)), .cut(0, for: .seconds(20))), Step(.time(.seconds(60)), .ask(1, .token)),
        ]
        for schedule in Self.schedules(steps) {
            let outcome = ClusterSimulation.play(schedule)
            #expect(outcome.violation == nil, "\(ClusterSimulation.report(schedule))")
            #expect(outcome.coverage.reuses == 0)
        }
    }

    @Test("hosts without etcd renew by themselves if the refresh token stays, and have one token when etcd is back")
    func apart() {
        let steps = [
            Step(.events(0), .ask(0, .renewal)), Step(.time(.seconds(1)), .etcdGone(for: .seconds(200))),
            Step(.time(.seconds(180)), .ask(0, .token)), Step(.events(0), .ask(1, .token)),
        ]
        for seed in Self.seeds {
            for rotates in [false, true] {
                let schedule = ClusterSchedule(seed: seed, life: .seconds(60), rotates: rotates, steps: steps)
                let outcome = ClusterSimulation.play(schedule)
                #expect(outcome.violation == nil, "\(ClusterSimulation.report(schedule))")
                #expect(rotates ? outcome.coverage.apart == 0 : outcome.coverage.apart >= 4)
            }
        }
    }

    @Test(
        "the later of two results replaces the earlier one, even if the dates of the earlier one were corrected",
        arguments: [true, false])
    func laterResult(isCorrected: Bool) {
        let correction = Step(.time(.seconds(15)), .setClock(0, by: .seconds(600)))
        let steps =
            Self.twoResults + [
                // The connection of host 1 is cut before the response arrives, and host 0 writes its result after the
                // lease of host 1 has ended.
                Step(.time(.milliseconds(54_200)), .cut(1, for: .seconds(20)))
            ] + (isCorrected ? [correction] : []) + [Step(.time(.seconds(30)), .ask(0, .token))]
        for schedule in Self.schedules(steps, grace: .seconds(600)) {
            let outcome = ClusterSimulation.play(schedule)
            #expect(outcome.violation == nil, "\(ClusterSimulation.report(schedule))")
            #expect(outcome.coverage.reuses == 1)
        }
    }

    @Test(
        "a clock that is set causes no renewal and no early end of a token", arguments: [-600, 600],
        [[], [.ask(0, .renewal)], [.ask(1, .renewal)]] as [[ClusterOperation]])
    func clocks(seconds: Int, operations: [ClusterOperation]) {
        var steps = [Step(.events(0), .provider(.slow(.seconds(2))))] + operations.map { Step(.events(0), $0) }
        // Even while the response to a renewal is on its way.
        steps += [
            Step(.time(.seconds(1)), .setClock(0, by: .seconds(seconds))),
            Step(.time(.seconds(10)), .setClock(1, by: .seconds(seconds))),
        ]
        for schedule in Self.schedules(steps) {
            let outcome = ClusterSimulation.play(schedule)
            #expect(outcome.violation == nil, "\(ClusterSimulation.report(schedule))")
            #expect(outcome.coverage.renewals == operations.count)
        }
    }
}
