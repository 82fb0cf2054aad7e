/// Plays sessions: the network, the store, the provider, clocks and processes fail.
package enum SessionSimulation: SimulationKind {
    package static func schedule(seed: UInt64) -> Schedule {
        var maker = ScheduleMaker(seed: seed)
        return maker.schedule()
    }

    package static func play(
        _ schedule: Schedule, injecting fault: SessionInjectedFault?, traced: Bool
    ) -> Outcome<Coverage> {
        let run = SimulationRun(schedule, fault: fault, traced: traced)
        run.run(schedule.steps)
        run.coverage.maxCalls = run.calls.map(\.most).max() ?? 0
        var outcome = Outcome(run, run.coverage)
        outcome.history = run.history ?? []
        return outcome
    }
}
