import CrashTrial
import Testing

@Suite("A killed agent", .serialized)
struct KillTests {
    @Test("loses no session when killed twenty times around a renewal")
    func twentyKills() async throws {
        // Others each time; a failure names its seed, and `make crash KILLS=1 CRASH_FIRST=seed` plays that plan again.
        let first = UInt64.random(in: 1...1_000_000)
        let tally = try await CrashTrial.run(seeds: first..<first + 20)
        #expect(tally.kills == 20)
        #expect(tally.faults == [], "\(tally.report)")
    }

    @Test("is judged by the keyring's content: an avoidable loss is a failure")
    func judged() {
        let lost = outcome(since: .milliseconds(3), stored: .newest, notified: false, survived: false)
        #expect(lost.fault != nil)
        #expect(outcome(since: nil, stored: .newest, notified: false, survived: true).fault == nil)
        #expect(outcome(since: .milliseconds(3), stored: .former, notified: false, survived: false).fault == nil)
        #expect(outcome(since: .milliseconds(3), stored: .former, notified: true, survived: true).fault != nil)
        #expect(outcome(since: nil, stored: .neither, notified: false, survived: true).fault != nil)
        var graced = outcome(since: .milliseconds(3), stored: .former, notified: false, survived: false)
        graced.hasGrace = true
        #expect(graced.fault != nil)
        var tally = KillTally()
        tally.note(lost)
        #expect(
            tally.report.hasSuffix("1 kills, 1 sessions lost; 0 more whose only copy died") && tally.faults.count == 1)
    }

    private func outcome(
        since: Duration?, stored: KillOutcome.Stored, notified: Bool, survived: Bool
    ) -> KillOutcome {
        KillOutcome(
            plan: KillPlan(seed: 7), hasGrace: false, sinceCommit: since, stored: stored, wasNotified: notified,
            survived: survived)
    }
}
