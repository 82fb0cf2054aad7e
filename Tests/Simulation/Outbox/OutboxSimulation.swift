/// Plays outboxes: writes that wait while the network, the disk, the provider and the process fail.
package enum OutboxSimulation: SimulationKind {
    package static func schedule(seed: UInt64) -> OutboxSchedule {
        var maker = OutboxScheduleMaker(seed: seed)
        return maker.schedule()
    }

    package static func play(
        _ schedule: OutboxSchedule, injecting fault: OutboxInjectedFault?, traced: Bool
    ) -> Outcome<OutboxCoverage> {
        let run = OutboxSimulationRun(schedule, fault: fault, traced: traced)
        run.run(schedule.steps)
        return Outcome(run, run.coverage)
    }
}
