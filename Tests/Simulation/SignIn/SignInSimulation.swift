/// Plays sign-ins: users, browsers, the provider, the store and the process fail.
package enum SignInSimulation: SimulationKind {
    package static func schedule(seed: UInt64) -> SignInSchedule {
        var maker = SignInScheduleMaker(seed: seed)
        return maker.schedule()
    }

    package static func play(
        _ schedule: SignInSchedule, injecting fault: SignInInjectedFault?, traced: Bool
    ) -> Outcome<SignInCoverage> {
        let run = SignInSimulationRun(schedule, fault: fault, traced: traced)
        run.run(schedule.steps)
        return Outcome(run, run.coverage)
    }
}
