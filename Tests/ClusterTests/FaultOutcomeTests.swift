import ClusterTrial
import StandInBackends
import Testing

@Suite("The outcome of a fault of a cluster")
struct FaultOutcomeTests {
    private static func outcome(_ seed: UInt64, converged: Double? = 1) -> FaultOutcome {
        var outcome = FaultOutcome(FaultPlan(seed: seed, hosts: 5, members: 3))
        outcome.converged = converged.map { .seconds($0) }
        return outcome
    }

    private static func reuse(_ verdict: Reuse.Verdict, endedSession: Bool = true) -> Reuse {
        Reuse(
            request: OAuthRenewal(sent: "one", client: "a", outcome: .refused(.reused)), endedSession: endedSession,
            verdict: verdict)
    }

    @Test("is good if all agents have the same token soon, and later only after an interrupted renewal")
    func converged() {
        #expect(Self.outcome(1).allFaults == [])
        #expect(Self.outcome(1, converged: nil).allFaults.count == 1)
        var late = Self.outcome(1, converged: 40)
        #expect(late.allFaults.count == 1)
        late.interruptedRenewal = true
        #expect(late.allFaults == [])
        late.converged = .seconds(100)
        #expect(late.allFaults.count == 1)
    }

    @Test("is good with a lost session only if that is excused, has its cause, and there was no grace window")
    func lost() {
        var lost = Self.outcome(1)
        lost.lossCauses = ["renewal_interrupted", "refused_by_provider"]
        // The provider honours it.
        #expect(lost.allFaults.count == 1)
        lost.reuses = [Self.reuse(.excused(.agentKilled))]
        #expect(lost.allFaults == [])
        lost.lossCauses = ["refused_by_provider"]
        #expect(lost.allFaults.count == 1)
        lost.lossCauses = ["renewal_interrupted", "refused_by_provider"]
        lost.reuses = [Self.reuse(.fault("nothing had interrupted it"))]
        #expect(lost.allFaults.count == 1)
        var graced = Self.outcome(2)
        graced.lossCauses = ["renewal_interrupted", "refused_by_provider"]
        graced.reuses = [Self.reuse(.excused(.agentKilled))]
        #expect(graced.allFaults.count == 1)
        graced.lossCauses = []
        graced.reuses = [Self.reuse(.excused(.agentKilled), endedSession: false)]
        #expect(graced.allFaults == [])
    }

    @Test("is counted with the others, and faults name their seed")
    func counted() {
        var tally = ClusterTally()
        tally.renewers = ["a", "a", "b", "b"]
        var lost = Self.outcome(1)
        lost.lossCauses = ["renewal_interrupted", "refused_by_provider"]
        lost.reuses = [Self.reuse(.excused(.agentKilled))]
        tally.note(lost)
        tally.note(Self.outcome(2))
        #expect(tally.count == 2 && tally.excusedLosses == 1 && tally.faults == [])
        #expect(tally.report.contains("2 faults, 0 broken rules, 0 sessions lost; 1 more"), "\(tally.report)")
        #expect(tally.report.contains("during the faults: 2 of 3\n"), "\(tally.report)")
        tally.note(Self.outcome(3, converged: nil))
        tally.note(["a client waited"], seed: 3)
        #expect(tally.faults.count == 2 && tally.faults.allSatisfy { $0.hasPrefix("seed 3: ") })
        #expect(tally.report.contains("3 faults, 2 broken rules, 0 sessions lost; 1 more"), "\(tally.report)")
    }
}
