import ClusterTrial
import StandInBackends
import Testing

@Suite("What clients of a cluster got")
struct ServedTokensTests {
    private static let start = ContinuousClock.now
    private static func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }
    private var served = ServedTokens()

    private static func standing(_ issued: Double, revoked: Double? = nil) -> OAuthStanding {
        OAuthStanding(issuedAt: at(issued), endsAt: at(issued + 10), revokedAt: revoked.map(at))
    }

    private mutating func add(
        _ token: String, by host: String = "a", _ asked: Double, _ standing: OAuthStanding?, took: Double = 0.01,
        refusedAt: Double? = nil, _ interruptions: [Interruption] = [], isWell: Bool = true
    ) {
        let refusals = refusedAt.map {
            OAuthRenewal(at: Self.at($0), sent: "one", client: "a", outcome: .refused(.reused))
        }
        served.add(
            ServedTokens.Response(
                token: token, host: host, askedAt: Self.at(asked), answeredAt: Self.at(asked + took)),
            standing, refusals: refusals.map { [$0] } ?? [], interruptions: interruptions,
            wellSince: isWell ? Self.at(-1) : nil)
    }

    @Test("a valid token is counted, and the first client of each host is remembered")
    mutating func valid() {
        add("one", 1, Self.standing(0))
        add("one", by: "b", 2, Self.standing(0))
        #expect(served.served == 2 && served.faults == [] && served.late == 0 && served.revoked == 0)
        #expect(served.firstServed("one", exceptBy: "a") == Self.at(2.01))
        #expect(served.firstServed("one", exceptBy: nil) == Self.at(1.01))
        #expect(served.firstServed("two", exceptBy: nil) == nil)
    }

    @Test("a token that was never issued is a fault")
    mutating func unknown() {
        add("one", 1, nil)
        #expect(served.faults.count == 1)
    }

    @Test("a revoked token is a fault of the agent that the provider has told, and is counted of others")
    mutating func revoked() {
        add("one", 2, Self.standing(0, revoked: 3))
        #expect(served.revoked == 0)
        add("one", by: "b", 5, Self.standing(0, revoked: 3), refusedAt: 3)
        add("one", 3.5, Self.standing(0, revoked: 3), refusedAt: 3)
        #expect(served.revoked == 2 && served.longestRevoked == .seconds(2) && served.faults == [])
        add("one", 4.5, Self.standing(0, revoked: 3), refusedAt: 3)
        #expect(served.faults.count == 1)
    }

    @Test("a token that is served for more than a second after its end is a fault, if etcd has no new leader")
    mutating func ended() {
        add("one", 10.5, Self.standing(0))
        #expect(served.late == 1 && served.lateFaults == [])
        add("one", 14, Self.standing(0))
        #expect(served.late == 2 && served.latest == .seconds(4) && served.lateFaults.count == 1)
        #expect(served.faults == [])
    }

    @Test("a new leader of etcd excuses a late token, up to the life of a lease and the time limit of a request")
    mutating func newLeader() {
        for asked in [30, 50, 50.5] { add("one", asked, Self.standing(0)) }
        let leader = LeaderTerms(1, at: Self.at(-1))
        var leaders = leader
        leaders.note(2, at: Self.at(5))
        #expect(served.lateFaults.map { $0.isFault(leaders) } == [false, false, true])
        #expect(served.lateFaults.map { $0.isFault(leader) } == [true, true, true])
    }

    @Test("a wait that is too long is a fault, except while the agent is stopped")
    mutating func waits() {
        let pause = Interruption(kind: .agentPaused, host: "a", began: Self.at(2), ended: Self.at(42))
        add("one", 1, Self.standing(0), took: 100, [pause])
        #expect(served.longestWait == .seconds(60) && served.faults == [])
        served.fail("stale", host: "b", askedAt: Self.at(0), answeredAt: Self.at(80), interruptions: [pause])
        #expect(served.failures == ["stale": 1] && served.faults.count == 1)
    }

    @Test("a new token arrives at each other agent once, from its issue on, and not during a fault")
    mutating func arrivals() {
        add("one", 1, Self.standing(0.9), took: 0.5)
        #expect(served.arrivals == [])
        add("one", by: "b", 2, Self.standing(0.9), took: 0.5)
        add("one", by: "b", 3, Self.standing(0.9))
        #expect(served.arrivals == [.seconds(2.5) - .seconds(0.9)])
        add("one", by: "c", 3, Self.standing(0.9), isWell: false)
        #expect(served.arrivals.count == 1)
        var tally = ClusterTally()
        tally.served = served
        #expect(tally.report.contains("other agents, without a fault: 1, 0 of them"), "\(tally.report)")
    }

    @Test("an older token counts as late from the first response with a newer one, if there is no fault")
    mutating func lag() {
        add("one", 1, Self.standing(0))
        add("two", 8, Self.standing(7.9))
        add("one", by: "b", 8.2, Self.standing(0), isWell: false)
        #expect(served.longestLag == .zero)
        add("one", by: "b", 8.2, Self.standing(0))
        #expect(served.longestLag == .seconds(8.2) - .seconds(8.01))
    }
}
