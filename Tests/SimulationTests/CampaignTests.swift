import Simulation
import Testing

@Suite("Simulated schedules", .timeLimit(.minutes(5)))
struct CampaignTests {
    @Test("the first five hundred break no rule, with the machine's own assertions on")
    func noRuleBroken() {
        let campaign = Campaign(playing: 1..<501)
        #expect(campaign.failures.isEmpty, "\(campaign.report)")
        #expect(campaign.played == 500)
        #expect(campaign.coverage.transitions > 100)
        // They install 115 grants and revoke 37: a third less means that the schedules no longer reach the end of sign-ins.
        #expect(campaign.signIns.installed >= 77 && campaign.signIns.revoked >= 25)
        // About 2,850 writes, and 100 that a provider carries out twice.
        #expect(campaign.outbox.writes >= 1900 && campaign.outbox.repeated >= 60)
    }

    @Test("clusters of hosts break no rule, and renew, wait for each other and are interrupted")
    func clusters() {
        let outcomes = (1...60 as ClosedRange<UInt64>).map { seed in
            var schedule = ClusterSimulation.schedule(seed: seed)
            schedule.isWatchedLonger = true
            return ClusterSimulation.play(schedule)
        }
        for outcome in outcomes { #expect(outcome.violation == nil) }
        #expect(outcomes.reduce(0) { $0 + $1.coverage.renewals } > 500)
        #expect(outcomes.contains { $0.coverage.overtaken > 0 } && outcomes.contains { $0.coverage.interrupted > 0 })
    }

    @Test("a campaign of clusters plays one for each seed, and nothing else")
    func onlyClusters() {
        let campaign = Campaign(playing: 1..<4, in: .clusters)
        #expect(campaign.failures.isEmpty, "\(campaign.report)")
        #expect(campaign.played == 3 && campaign.clusters.renewals > 0)
        #expect(campaign.coverage.transitions == 0)
    }

    @Test(
        "clusters that once broke a rule break none",
        arguments: [
            58, 1016, 10_286, 33_707, 45_289, 103_342, 113_853, 356_581, 379_879, 415_480, 587_988, 2_328_830,
        ] as [UInt64])
    func formerClusterFailures(seed: UInt64) {
        #expect(ClusterSimulation.play(ClusterSimulation.schedule(seed: seed)).violation == nil)
    }

    @Test(
        "seeds that once broke a rule break none",
        arguments: [
            500_121_468, 500_166_297, 510_528_710, 520_224_752, 520_477_674, 520_849_770, 524_679_863, 524_746_331,
            526_435_274, 528_082_112, 528_178_605, 529_365_100, 541_902_736,
            542_754_913, 549_292_650, 549_563_598, 551_929_457,
            26_749, 543_323_524, 547_521_453, 550_142_518, 550_848_995, 554_219_850, 555_001_870,
            580_972_687, 581_116_006, 581_899_242, 617_201_924, 703_578_684, 201_556_896,
        ] as [UInt64])
    func formerFailures(seed: UInt64) async {
        let campaign = await Campaign.played(seeds: seed..<seed + 1, workers: 1)
        #expect(campaign.failures.isEmpty, "\(campaign.report)")
    }

    @Test("a schedule is played the same way twice", arguments: [2, 3, 5, 40, 77, 1234] as [UInt64])
    func deterministic(seed: UInt64) {
        expectSameTrace(SessionSimulation.self, seed)
        expectSameTrace(OutboxSimulation.self, seed)
        expectSameTrace(SignInSimulation.self, seed)
        expectSameTrace(ClusterSimulation.self, seed)
    }

    private func expectSameTrace<Kind: SimulationKind>(_ kind: Kind.Type, _ seed: UInt64) {
        let schedule = kind.schedule(seed: seed)
        let first = kind.trace(schedule)
        #expect(first.trace.count > 10)
        #expect(first.trace == kind.trace(schedule).trace)
    }

    @Test(
        "a fault in sessions is found, and its schedule is made short",
        arguments: SessionInjectedFault.allCases.filter { !RuleTests.planned.contains($0) })
    func sessionFaults(fault: SessionInjectedFault) throws {
        try expectFound(fault, by: SessionSimulation.self, within: 4)
    }

    @Test("a fault in the outbox is found, and its schedule is made short", arguments: OutboxInjectedFault.allCases)
    func outboxFaults(fault: OutboxInjectedFault) throws {
        try expectFound(fault, by: OutboxSimulation.self, within: 6)
    }

    @Test("a fault in sign-ins is found, and its schedule is made short", arguments: SignInInjectedFault.allCases)
    func signInFaults(fault: SignInInjectedFault) throws {
        try expectFound(fault, by: SignInSimulation.self, within: 6)
    }

    /// In one of the first two thousand schedules.
    private func expectFound<Kind: SimulationKind>(_ fault: Kind.Fault, by kind: Kind.Type, within steps: Int) throws {
        let schedules = (1...2000 as ClosedRange<UInt64>).lazy.map { kind.schedule(seed: $0) }
        let schedule = try #require(
            schedules.first { kind.play($0, injecting: fault).violation?.rule == fault.rule }, "no schedule shows it")
        let short = kind.shortened(schedule, injecting: fault)
        #expect(kind.play(short, injecting: fault).violation?.rule == fault.rule)
        #expect(kind.play(short).violation == nil)
        #expect(short.steps.count <= steps, "\(short)")
    }
}
