import ClusterTrial
import Testing

@Suite("The plan of a fault")
struct FaultPlanTests {
    private static func plan(_ seed: UInt64) -> FaultPlan { FaultPlan(seed: seed, hosts: 5, members: 3) }

    @Test("follows from its seed")
    func repeated() {
        #expect((1...100).allSatisfy { Self.plan($0) == Self.plan($0) })
        #expect(Self.plan(1) != Self.plan(3))
    }

    @Test("has each kind, each host and each member among a hundred, half of them with a grace window")
    func variety() {
        let plans = (1...100).map { Self.plan($0) }
        #expect(Set(plans.map(\.kind)) == Set(FaultPlan.Kind.allCases))
        #expect(Set(plans.map(\.host)) == Set(0..<5) && Set(plans.map(\.member)) == Set(0..<3))
        #expect(plans.count(where: \.hasGrace) == 50)
        let committed = plans.count { if case .committed = $0.moment { true } else { false } }
        #expect((30...70).contains(committed), "\(committed)")
    }

    @Test("stops an agent for longer than the lease, and sometimes until another host claims the session")
    func pauses() {
        let pauses = (1...1000).map { Self.plan($0) }.filter { $0.kind == .agentPaused }.map(\.length)
        #expect(pauses.allSatisfy { $0 > .seconds(10) } && pauses.contains { $0 > .seconds(55) })
    }

    @Test("is short for the ten faults of make test, which include every kind, both providers and both moments")
    func ten() {
        let plans = (ClusterFaultTests.first..<ClusterFaultTests.first + 10).map(Self.plan)
        #expect(Set(plans.map(\.kind)) == Set(FaultPlan.Kind.allCases))
        #expect(plans.count(where: \.hasGrace) == 5)
        let committed = plans.count { if case .committed = $0.moment { true } else { false } }
        #expect(committed == 4)
        #expect(plans.reduce(Duration.zero) { $0 + $1.length } < .seconds(40))
    }

    @Test("is described with what repeats it")
    func described() {
        let words = "\(Self.plan(7))"
        #expect(words.hasPrefix("seed 7: ") && words.contains(Self.plan(7).kind.rawValue), "\(words)")
        #expect("\(Self.plan(8))".hasPrefix("seed 8, with a grace window: "))
    }
}
