package import AuthWire

/// What came of one schedule.
package struct Outcome: Sendable {
    package var violation: Violation?
    package var coverage: Coverage
    /// How many things happened.
    package var happenings: Int
    /// What happened, where it was to be traced.
    package var trace: [String]
    /// By session, where it was to be traced.
    package var history: [History]
}

/// What became of one session.
package struct History: Sendable {
    /// When its provider was called.
    package internal(set) var calls: [Duration] = []
    /// When a timer of its own woke the agent.
    package internal(set) var wakes: [Duration] = []
    /// Each change of its state.
    package private(set) var states: [(at: Duration, state: SessionState)] = []

    mutating func note(_ state: SessionState, at now: Duration) {
        if states.last?.state != state { states.append((now, state)) }
    }
}

/// Plays schedules, and makes those that break a rule short.
package enum Simulation {
    package static func play(_ schedule: Schedule, tampering: InjectedFault? = nil, traced: Bool = false) -> Outcome {
        let play = SimulationRun(schedule, tampering: tampering, traced: traced)
        play.run(schedule.moves)
        play.coverage.maxCalls = play.calls.map(\.most).max() ?? 0
        return Outcome(
            violation: play.violation, coverage: play.coverage, happenings: play.happenings, trace: play.trace ?? [],
            history: play.history ?? [])
    }

    /// The shortest schedule found that breaks the same rule.
    package static func shortened(_ schedule: Schedule, tampering: InjectedFault? = nil) -> Schedule {
        Shrinker.shortened(schedule) { play($0, tampering: tampering).violation?.rule }
    }

    /// A failure as it is told: the rule, the shortest schedule that breaks it, and what happened.
    package static func report(_ schedule: Schedule) -> String {
        let short = shortened(schedule)
        let outcome = play(short, traced: true)
        return words("\(short)", of: schedule.seed, outcome.violation, outcome.trace)
    }

    /// Of what happened the end tells most.
    private static let maxLines = 60

    static func words(_ schedule: String, of seed: UInt64, _ violation: Violation?, _ trace: [String]) -> String {
        let rule = violation.map(String.init(describing:)) ?? "no rule broken"
        let head = ["Seed \(seed): \(rule)", "The shortest schedule:", schedule, "What happened:"]
        return (head + trace.suffix(maxLines)).joined(separator: "\n")
    }
}
