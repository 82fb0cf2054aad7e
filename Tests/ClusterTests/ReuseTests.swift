import ClusterTrial
import StandInBackends
import Testing

@Suite("A refresh token that was sent twice")
struct ReuseTests {
    private static let start = ContinuousClock.now
    private static func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private static func commit(_ seconds: Double, by client: String = "a") -> OAuthRenewal {
        OAuthRenewal(
            at: at(seconds), sent: "one", client: client, outcome: .renewed(accessToken: "new", isRepeated: false))
    }

    private static func again(_ seconds: Double, by client: String = "b") -> OAuthRenewal {
        OAuthRenewal(at: at(seconds), sent: "one", client: client, outcome: .refused(.reused))
    }

    private static func verdicts(
        _ log: [OAuthRenewal], _ kind: FaultPlan.Kind = .agentKilled, host: String? = "a", from began: Double = 0,
        to ended: Double = 1, servedAt: Double? = nil
    ) -> [Reuse.Verdict] {
        let interruption = Interruption(kind: kind, host: host, began: at(began), ended: at(ended))
        return Reuse.all(in: log, from: 0, interruptions: [interruption]) { token, host in
            #expect(token == "new" && host == "a")
            return servedAt.map(at)
        }.map(\.verdict)
    }

    @Test("is excused by the end of the host that had got the next one")
    func killed() {
        #expect(Self.verdicts([Self.commit(0), Self.again(56)], from: 0.02) == [.excused(.agentKilled)])
        // What it sent before its end.
        #expect(Self.verdicts([Self.commit(0.1), Self.again(56)], from: 0.02) == [.excused(.agentKilled)])
        #expect(Self.verdicts([Self.commit(0), Self.again(56)], host: "c", from: 0.02) != [.excused(.agentKilled)])
        #expect(Self.verdicts([Self.commit(0), Self.again(56)], from: 57) != [.excused(.agentKilled)])
    }

    @Test("is not excused if another host had the next one, and so it was in etcd")
    func served() {
        let log = [Self.commit(0), Self.again(56)]
        guard case .fault = Self.verdicts(log, from: 0.02, servedAt: 0.5).first else {
            Issue.record("excused")
            return
        }
        #expect(Self.verdicts(log, from: 0.02, servedAt: 57) == [.excused(.agentKilled)])
    }

    @Test("is excused by a stop of the host that leaves no time to write, and by a lost response")
    func stopped() {
        let log = [Self.commit(1), Self.again(57)]
        #expect(Self.verdicts(log, .agentPaused, from: 0.5, to: 60) == [.excused(.agentPaused)])
        #expect(Self.verdicts(log, .agentPaused, from: 0.5, to: 40) != [.excused(.agentPaused)])
        let early = [Self.commit(1), Self.again(15)]
        #expect(Self.verdicts(early, .agentPaused, from: 0.5, to: 60) != [.excused(.agentPaused)])
        #expect(Self.verdicts(log, .hostCutFromProvider, from: 0.5, to: 5) == [.excused(.hostCutFromProvider)])
        #expect(Self.verdicts(log, .hostCutFromProvider, from: 0, to: 0.5) != [.excused(.hostCutFromProvider)])
    }

    @Test("is not excused by a partition from etcd that leaves time to write, nor by a fault of etcd")
    func etcd() {
        let log = [Self.commit(1), Self.again(57)]
        #expect(Self.verdicts(log, .hostCutFromEtcd, from: 1, to: 50) == [.excused(.hostCutFromEtcd)])
        #expect(Self.verdicts(log, .hostCutFromEtcd, from: 1, to: 40) != [.excused(.hostCutFromEtcd)])
        for kind in [FaultPlan.Kind.leaderKilled, .memberKilled, .memberCut] {
            #expect(Self.verdicts(log, kind, host: nil, from: 0, to: 50) != [.excused(kind)])
        }
    }

    @Test("counts in a grace period, too; a refusal of an ended session does not")
    func graced() {
        let repeated = OAuthRenewal(
            at: Self.at(40), sent: "one", client: "b", outcome: .renewed(accessToken: "newer", isRepeated: true))
        let ended = OAuthRenewal(at: Self.at(41), sent: "one", client: "b", outcome: .refused(.ended))
        let log = [Self.commit(0), repeated, ended]
        #expect(Self.verdicts(log, from: 0.02) == [.excused(.agentKilled)])
        #expect(Reuse.all(in: log, from: 2, interruptions: []) { _, _ in nil }.isEmpty)
    }

    @Test("that the provider never issued is a fault")
    func unknown() {
        let request = OAuthRenewal(at: Self.at(0), sent: "two", client: "a", outcome: .refused(.unknown))
        guard case .fault = Self.verdicts([request]).first else {
            Issue.record("excused")
            return
        }
    }
}
