import HostSimulation
import Simulation
import Testing

/// For each rule, a fault between the agents and their environment that breaks it.
@Suite("Injected faults of simulated hosts", .timeLimit(.minutes(10)))
struct HostFaultsTests {
    private typealias Step = SimulationStep<HostOperation>

    private static func steps(showing fault: HostInjectedFault) -> [Step] {
        switch fault {
        case .losesSessions:
            [
                Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .ask(0, .renewal)),
                Step(.time(.seconds(5)), .restore(.same)),
            ]
        case .keepsSessions:
            [
                Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .signOut(1)),
                Step(.time(.seconds(5)), .restore(.same)),
            ]
        case .sharesHolds:
            [
                Step(.time(.seconds(1)), .provider(.slow(.seconds(2)))), Step(.time(.zero), .ask(0, .renewal)),
                Step(.time(.zero), .ask(1, .renewal)),
            ]
        case .losesTokens:
            // The second one begins after the time limit of the first one.
            [Step(.time(.seconds(1)), .ask(0, .renewal)), Step(.time(.seconds(40)), .ask(0, .renewal))]
        case .endsSessions, .silencesWatches, .keepsHolds: [Step(.time(.seconds(1)), .ask(0, .renewal))]
        case .hidesSessions: [Step(.time(.seconds(1)), .ask(0, .token))]
        case .showsFormerHosts: [Step(.time(.seconds(1)), .forget(2, by: 0))]
        case .hidesClocks: [Step(.time(.seconds(1)), .setClock(1, by: .seconds(600)))]
        // The watches report nothing, so the first sign of the restore is the hold.
        case .losesMarks:
            [
                Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .ask(0, .renewal)),
                Step(.time(.seconds(5)), .restore(.behindProxy)), Step(.time(.zero), .ask(0, .renewal)),
            ]
        case .losesSignOuts: signInAfterUnseenSignOut
        case .refusesHosts, .neverAnswers: [Step(.time(.seconds(1)), .changeKey(0))]
        }
    }

    @Test("a fault is found, and its schedule breaks no rule without it", arguments: HostInjectedFault.allCases)
    func faults(fault: HostInjectedFault) async {
        await expect(fault, toBreak: fault.rule, in: HostSchedule(steps: Self.steps(showing: fault)))
    }

    @Test("each rule has an injected fault that breaks it")
    func everyRule() {
        #expect(Set(HostRule.allCases).subtracting(HostInjectedFault.allCases.map(\.rule)) == [])
    }

    @Test("a host that has no session after its start is found, even though no token differs")
    func missingSession() async {
        let steps = [Step(.time(.seconds(1)), .kill(1, down: .milliseconds(200)))]
        await expect(.hidesSessions, toBreak: .convergence, in: HostSchedule(steps: steps))
    }

    @Test("a used refresh token is found, even if the provider still accepts it")
    func acceptedReuse() async {
        let steps = Self.steps(showing: .losesTokens)
        await expect(.losesTokens, toBreak: .reuse, in: HostSchedule(grace: .seconds(60), steps: steps))
    }

    @Test("a missing list of ended sign-ins is found, even if another host has seen the former sign-in end")
    func missingList() async {
        let steps = [
            Step(.events(1), .backUp), Step(.events(0), .signOut(2)),
            Step(.time(.seconds(1)), .kill(0, down: .seconds(2))), Step(.events(0), .signIn(0)),
            Step(.time(.seconds(24)), .ask(0, .renewal)), Step(.events(3), .restore(.same)),
        ]
        let schedule = HostSchedule(hosts: 2, life: .seconds(60), steps: steps)
        await expect(.losesSignOuts, toBreak: .reuse, in: schedule, seeds: 4...6)
    }

    /// Times of messages follow from the seed: a fault need not show with each.
    private func expect(
        _ fault: HostInjectedFault, toBreak rule: HostRule, in schedule: HostSchedule,
        seeds: ClosedRange<UInt64> = 1...3
    ) async {
        var schedule = schedule
        var others: [HostViolation?] = []
        for seed in seeds {
            schedule.seed = seed
            let violation = await HostSimulation.play(schedule, injecting: fault).violation
            guard violation?.rule == rule else {
                others.append(violation)
                continue
            }
            let outcome = await HostSimulation.play(schedule)
            if outcome.violation != nil { Issue.record("\(await HostSimulation.report(schedule))") }
            return
        }
        Issue.record("found instead: \(others)")
    }
}
