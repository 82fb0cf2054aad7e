import AuthWire
import Simulation
import Testing

@Suite("The rules of the simulations", .timeLimit(.minutes(5)))
struct RuleTests {
    private typealias Step = SimulationStep<SimulatedOperation>

    @Test("each rule has an injected fault that breaks it")
    func everyRule() {
        let broken =
            SessionInjectedFault.allCases.map(\.rule) + OutboxInjectedFault.allCases.map(\.rule)
            + SignInInjectedFault.allCases.map(\.rule) + ClusterInjectedFault.allCases.map(\.rule)
        #expect(Set(Rule.allCases).subtracting(broken) == [])
    }

    /// Faults that need more sessions or more time than the schedules of the campaign have.
    static let planned: Set<SessionInjectedFault> = [.losesTokens, .repeatsFailedRequests, .skipsTheQueue]

    private static func schedule(showing fault: SessionInjectedFault) -> Schedule {
        var setting = Setting()
        setting.quiet = .seconds(60)
        let steps: [Step]
        switch fault {
        // A few seconds before the end of a token, it is returned only while a better one is requested.
        case .losesTokens:
            steps = [
                Step(.time(.zero), .sleep(.seconds(3594))), Step(.events(0), .ask(0, .token(minValid: nil))),
            ]
        // Two hundred requests before the first renewal times out, and as many for the next one.
        case .repeatsFailedRequests:
            setting.answerTime = .milliseconds(150)...Duration.milliseconds(150)
            steps = [
                Step(.events(0), .provider(.fails(retryAfter: nil))), Step(.events(0), .ask(0, .renewal)),
                Step(.time(.seconds(120)), .provider(.well)),
            ]
        // The tokens of twelve sessions end while the machine sleeps.
        default:
            setting.sessions = 12
            steps = [Step(.time(.seconds(5)), .sleep(.seconds(4000))), Step(.time(.seconds(10)), .ask(0, .write))]
        }
        return Schedule(seed: 1, setting: setting, steps: steps)
    }

    @Test("a fault that only a planned schedule shows is found", arguments: planned)
    func plannedFaults(fault: SessionInjectedFault) {
        let schedule = Self.schedule(showing: fault)
        let found = SessionSimulation.play(schedule, injecting: fault).violation
        #expect(found?.rule == fault.rule, "\(String(describing: found))")
        let violation = SessionSimulation.play(schedule).violation
        #expect(violation == nil, "\(SessionSimulation.report(schedule))")
    }
}
