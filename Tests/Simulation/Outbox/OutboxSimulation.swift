/// What came of one schedule of the outbox.
package struct OutboxOutcome: Sendable {
    package var violation: Violation?
    package var coverage: OutboxCoverage
    /// How many things happened.
    package var happenings: Int
    /// What happened, where it was to be traced.
    package var trace: [String]
}

/// Plays schedules of the outbox, and makes those that break a rule short.
package enum OutboxSimulation {
    package static func play(
        _ schedule: OutboxSchedule, tampering: OutboxInjectedFault? = nil, traced: Bool = false
    ) -> OutboxOutcome {
        let play = OutboxSimulationRun(schedule, tampering: tampering, traced: traced)
        play.run(schedule.moves)
        return OutboxOutcome(
            violation: play.violation, coverage: play.coverage, happenings: play.happenings, trace: play.trace ?? [])
    }

    /// The shortest schedule found that breaks the same rule.
    package static func shortened(_ schedule: OutboxSchedule, tampering: OutboxInjectedFault? = nil) -> OutboxSchedule {
        Shrinker.shortened(schedule) { play($0, tampering: tampering).violation?.rule }
    }

    package static func report(_ schedule: OutboxSchedule) -> String {
        let short = shortened(schedule)
        let outcome = play(short, traced: true)
        return Simulation.words("\(short)", of: schedule.seed, outcome.violation, outcome.trace)
    }
}
