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
        #expect(campaign.signIns.installed > 50 && campaign.signIns.revoked > 20)
    }

    @Test("seeds that once broke a rule break none", arguments: [500_121_468, 500_166_297, 510_528_710] as [UInt64])
    func formerFailures(seed: UInt64) async {
        let campaign = await Campaign.played(seeds: seed..<seed + 1, workers: 1)
        #expect(campaign.failures.isEmpty, "\(campaign.report)")
    }

    @Test("from one seed everything follows", arguments: [3, 77, 1234] as [UInt64])
    func deterministic(seed: UInt64) {
        var maker = ScheduleMaker(seed: seed)
        let schedule = maker.schedule()
        let first = Simulation.play(schedule, traced: true)
        #expect(first.trace.count > 10)
        #expect(first.trace == Simulation.play(schedule, traced: true).trace)
    }

    @Test("a fault put in on purpose is found, and its schedule is made short", arguments: InjectedFault.allCases)
    func faultsAreFound(tampering: InjectedFault) throws {
        let make = { (seed: UInt64) in
            var maker = ScheduleMaker(seed: seed)
            return maker.schedule()
        }
        let schedule = try found(make) { Simulation.play($0, tampering: tampering).violation?.rule == tampering.rule }
        let short = Simulation.shortened(schedule, tampering: tampering)
        #expect(Simulation.play(short, tampering: tampering).violation?.rule == tampering.rule)
        #expect(Simulation.play(short).violation == nil)
        #expect(short.moves.count <= 4, "\(short)")
    }

    @Test(
        "a fault put into the outbox on purpose is found, and its schedule is made short",
        arguments: OutboxInjectedFault.allCases)
    func outboxFaultsAreFound(tampering: OutboxInjectedFault) throws {
        let make = { (seed: UInt64) in
            var maker = OutboxScheduleMaker(seed: seed)
            return maker.schedule()
        }
        let schedule = try found(make) {
            OutboxSimulation.play($0, tampering: tampering).violation?.rule == tampering.rule
        }
        let short = OutboxSimulation.shortened(schedule, tampering: tampering)
        #expect(OutboxSimulation.play(short, tampering: tampering).violation?.rule == tampering.rule)
        #expect(OutboxSimulation.play(short).violation == nil)
        #expect(short.moves.count <= 6, "\(short)")
    }

    @Test("the outbox too is played the same way twice")
    func outboxIsDeterministic() {
        var maker = OutboxScheduleMaker(seed: 5)
        let schedule = maker.schedule()
        let first = OutboxSimulation.play(schedule, traced: true)
        #expect(first.trace.count > 10)
        #expect(first.trace == OutboxSimulation.play(schedule, traced: true).trace)
    }

    @Test(
        "a fault put into the sign-ins on purpose is found, and its schedule is made short",
        arguments: SignInInjectedFault.allCases)
    func signInFaultsAreFound(tampering: SignInInjectedFault) throws {
        let make = { (seed: UInt64) in
            var maker = SignInScheduleMaker(seed: seed)
            return maker.schedule()
        }
        let schedule = try found(make) {
            SignInSimulation.play($0, tampering: tampering).violation?.rule == tampering.rule
        }
        let short = SignInSimulation.shortened(schedule, tampering: tampering)
        #expect(SignInSimulation.play(short, tampering: tampering).violation?.rule == tampering.rule)
        #expect(SignInSimulation.play(short).violation == nil)
        #expect(short.moves.count <= 6, "\(short)")
    }

    @Test("sign-ins too are played the same way twice", arguments: [2, 40] as [UInt64])
    func signInsAreDeterministic(seed: UInt64) {
        var maker = SignInScheduleMaker(seed: seed)
        let schedule = maker.schedule()
        let first = SignInSimulation.play(schedule, traced: true)
        #expect(first.trace.count > 10)
        #expect(first.trace == SignInSimulation.play(schedule, traced: true).trace)
    }

    /// The first of two thousand schedules in which it shows.
    private func found<Schedule>(
        _ make: @escaping (UInt64) -> Schedule, where shows: @escaping (Schedule) -> Bool
    ) throws -> Schedule {
        try #require((1...2000 as ClosedRange<UInt64>).lazy.map(make).first(where: shows), "no schedule shows it")
    }
}
