/// What came of one schedule of sign-ins.
package struct SignInOutcome: Sendable {
    package var violation: Violation?
    package var coverage: SignInCoverage
    /// How many things happened.
    package var happenings: Int
    /// What happened, if it was to be traced.
    package var trace: [String]
}

/// Plays schedules of sign-ins, and makes those that break a rule short.
package enum SignInSimulation {
    package static func play(
        _ schedule: SignInSchedule, tampering: SignInInjectedFault? = nil, traced: Bool = false
    ) -> SignInOutcome {
        let run = SignInSimulationRun(schedule, tampering: tampering, traced: traced)
        run.run(schedule.moves)
        return SignInOutcome(
            violation: run.violation, coverage: run.coverage, happenings: run.happenings, trace: run.trace ?? [])
    }

    /// The shortest schedule found that breaks the same rule.
    package static func shortened(_ schedule: SignInSchedule, tampering: SignInInjectedFault? = nil) -> SignInSchedule {
        Shrinker.shortened(schedule) { play($0, tampering: tampering).violation?.rule }
    }

    package static func report(_ schedule: SignInSchedule) -> String {
        let short = shortened(schedule)
        let outcome = play(short, traced: true)
        return Simulation.words("\(short)", of: schedule.seed, outcome.violation, outcome.trace)
    }
}

/// How much of the sign-ins was played.
package struct SignInCoverage: Sendable {
    /// How sign-ins ended: `done`, or the kind of the error.
    package internal(set) var ends: [String: Int] = [:]
    package internal(set) var grants = 0
    package internal(set) var installed = 0
    package internal(set) var revoked = 0
    package internal(set) var deaths = 0

    package init() {}

    package mutating func add(_ other: SignInCoverage) {
        ends.merge(other.ends, uniquingKeysWith: +)
        grants += other.grants
        installed += other.installed
        revoked += other.revoked
        deaths += other.deaths
    }

    var words: String {
        let ends = ends.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return "Sign-ins: \(ends); grants: \(grants), \(installed) installed, \(revoked) revoked; \(deaths) deaths"
    }
}
