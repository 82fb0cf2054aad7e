/// A kind of simulation: makes schedules from seeds, plays them, and shortens those that break a rule.
package protocol SimulationKind {
    associatedtype Schedule: SimulationSchedule
    associatedtype Fault: InjectedFault
    associatedtype Coverage: Sendable

    /// Everything in it follows from the seed.
    static func schedule(seed: UInt64) -> Schedule
    /// - Parameters:
    ///   - fault: put between the machine and its environment on purpose.
    ///   - traced: the outcome says what happened.
    static func play(_ schedule: Schedule, injecting fault: Fault?, traced: Bool) -> Outcome<Coverage>
}

extension SimulationKind {
    package static func play(_ schedule: Schedule, injecting fault: Fault? = nil) -> Outcome<Coverage> {
        play(schedule, injecting: fault, traced: false)
    }

    package static func trace(_ schedule: Schedule) -> Outcome<Coverage> {
        play(schedule, injecting: nil, traced: true)
    }

    /// The shortest schedule found that breaks the same rule; unchanged if it breaks none.
    package static func shortened(_ schedule: Schedule, injecting fault: Fault? = nil) -> Schedule {
        Shrinker.shortened(schedule) { play($0, injecting: fault).violation?.rule }
    }

    /// The rule, the shortest schedule that breaks it, and what happened.
    package static func report(_ schedule: Schedule) -> String {
        let short = shortened(schedule)
        let outcome = trace(short)
        let rule = outcome.violation.map(String.init(describing:)) ?? "no rule broken"
        let head = ["Seed \(schedule.seed): \(rule)", "The shortest schedule:", "\(short)", "What happened:"]
        return (head + outcome.trace.suffix(maxTraceLines)).joined(separator: "\n")
    }

    package static func report(seed: UInt64) -> String { report(schedule(seed: seed)) }

    /// The end of a trace says most.
    private static var maxTraceLines: Int { 60 }
}

/// A fault that shows whether the checker of its simulation finds it.
package protocol InjectedFault: Sendable, CaseIterable, Equatable {
    /// The rule that the fault breaks.
    var rule: Rule { get }
}

/// The outcome of one schedule.
package struct Outcome<Coverage: Sendable>: Sendable {
    package let violation: Violation?
    package let coverage: Coverage
    /// How many events there were.
    package let eventCount: Int
    /// What happened, if it was traced.
    package let trace: [String]
    /// By session, if it was traced.
    package var history: [History] = []

    init(_ run: SimulationBase, _ coverage: Coverage) {
        violation = run.violation
        eventCount = run.eventCount
        trace = run.trace ?? []
        self.coverage = coverage
    }
}
