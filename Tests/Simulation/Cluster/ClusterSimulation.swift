/// Plays hosts that share a session in etcd.
package enum ClusterSimulation: SimulationKind {
    package static func schedule(seed: UInt64) -> ClusterSchedule {
        var maker = ClusterScheduleMaker(seed: seed)
        return maker.schedule()
    }

    package static func play(
        _ schedule: ClusterSchedule, injecting fault: ClusterInjectedFault?, traced: Bool
    ) -> Outcome<ClusterCoverage> {
        let run = ClusterSimulationRun(schedule, fault: fault, traced: traced)
        run.run(schedule.steps)
        return Outcome(run, run.coverage)
    }
}
