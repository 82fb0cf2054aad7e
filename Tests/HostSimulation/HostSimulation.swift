import AuthConcurrency
import Simulation

/// Plays hosts with the real agents and the real store of a cluster, on a simulated etcd.
package enum HostSimulation {
    /// The result of one schedule.
    package struct Outcome: Sendable {
        package let violation: HostViolation?
        package let coverage: HostCoverage
        /// The events, if a trace was requested.
        package let trace: [String]
    }

    /// The end of a trace is the most useful part.
    private static let maxTraceLines = 120

    package static func schedule(seed: UInt64) -> HostSchedule {
        var maker = HostScheduleMaker(seed: seed)
        return maker.schedule()
    }

    /// - Parameters:
    ///   - fault: a deliberate fault between the agents and their environment.
    ///   - isTraced: whether the outcome has a trace.
    package static func play(
        _ schedule: HostSchedule, injecting fault: HostInjectedFault? = nil, isTraced: Bool = false
    ) async -> Outcome {
        await onThread { playHere(schedule, fault, isTraced) }
    }

    /// Counts what hosts without faults request of etcd. The steps of the schedule are not played.
    package static func load(_ schedule: HostSchedule, in period: Duration) async -> EtcdLoad {
        await onThread {
            let run = HostSimulationRun(schedule, fault: nil, traced: false)
            return run.load(in: period)
        }
    }

    /// The rule that the schedule breaks, the shortest schedule found that breaks it, and what happened.
    package static func report(_ schedule: HostSchedule) async -> String {
        await onThread {
            let short = Shrinker.shortened(schedule, mostPlays: 100) { playHere($0, nil, false).violation?.rule }
            let outcome = playHere(short, nil, true)
            let rule = outcome.violation.map(String.init(describing:)) ?? "no rule broken"
            let head = ["Seed \(schedule.seed): \(rule)", "The shortest schedule:", "\(short)", "What happened:"]
            return (head + outcome.trace.suffix(maxTraceLines)).joined(separator: "\n")
        }
    }

    /// Not on a thread of Swift's pool: the simulation runs tasks by itself.
    static func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await BlockingThread().complete(work)
    }

    private static func playHere(
        _ schedule: HostSchedule, _ fault: HostInjectedFault?, _ isTraced: Bool
    ) -> Outcome {
        let run = HostSimulationRun(schedule, fault: fault, traced: isTraced)
        run.play()
        return Outcome(violation: run.violation, coverage: run.coverage, trace: run.trace ?? [])
    }
}
