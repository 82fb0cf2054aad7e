import Testing

@testable import HostSimulation

/// What the simulation expects of hosts after all faults.
@Suite("The recovery of simulated hosts", .timeLimit(.minutes(10)))
struct RecoveredHostTests {
    @Test("a schedule whose last renewal ended just before the last check breaks no rule")
    func formerSchedule() async {
        // It has broken rule 3.
        let schedule = HostSimulation.schedule(seed: 4509)
        let outcome = await HostSimulation.play(schedule)
        if outcome.violation != nil { Issue.record("\(await HostSimulation.report(schedule))") }
        #expect(outcome.coverage.lost == 0)
    }

    private struct Result {
        /// The number of the refresh token in etcd, and those that the hosts have before the check and after it.
        let written: Int?
        let before: [Int?]
        let after: [Int?]
        let violation: HostViolation?
        let coverage: HostCoverage
    }

    @Test("new tokens that are in etcd, and that no host has yet, are not lost")
    func tokensOnTheirWay() async {
        let result = await HostSimulation.onThread {
            let run = HostSimulationRun(HostSchedule(hosts: 2, steps: []), fault: nil, traced: false)
            func numbers() -> [Int?] { run.members.map { $0.process?.refresh?.number } }
            run.begin()
            run.perform(.ask(0, .renewal))
            run.settle()
            while run.commit?.isWritten != true, run.time.happen(before: .seconds(60)) { run.settle() }
            let (written, before) = (run.etcd.newestWritten?.number, numbers())
            run.checkRecovered()
            defer { run.end() }
            return Result(
                written: written, before: before, after: numbers(), violation: run.violation, coverage: run.coverage)
        }
        #expect(result.written == 2 && result.before == [1, 1] && result.after == [2, 2])
        #expect(result.violation == nil && result.coverage.lost == 0 && result.coverage.notCompared == 0)
    }
}
