/// The outcomes of many kills.
package struct KillTally: Sendable {
    private var outcomes: [KillOutcome] = []
    /// One line for each kill that had a fault.
    package private(set) var faults: [String] = []

    package init() {}

    package mutating func note(_ outcome: KillOutcome) {
        outcomes.append(outcome)
        guard let fault = outcome.fault else { return }
        faults.append("seed \(outcome.plan.seed): \(fault) (\(outcome))")
    }

    package mutating func add(_ other: KillTally) {
        outcomes += other.outcomes
        faults += other.faults
    }

    package var kills: Int { outcomes.count }
    package var inFlight: [KillOutcome] { outcomes.filter(\.wasInFlight) }

    /// The last line is the count.
    package var report: String {
        let before = outcomes.filter { $0.sinceCommit == nil }
        let kept = outcomes.filter { $0.sinceCommit != nil && $0.stored == .newest }
        let graced = inFlight.filter(\.hasGrace)
        let bare = inFlight.filter { !$0.hasGrace }
        let lines = [
            "before the provider's commit: \(before.count)",
            "in flight from its commit to the keyring: \(inFlight.count)"
                + " (\(inFlight.count { !$0.wasAnswered }) before its answer went out)",
            "in the keyring: \(kept.count) (\(kept.count(where: \.wasNotified)) after the caller was answered)",
            "in flight with a grace window: \(graced.count), saved by it: \(graced.count(where: \.survived))",
            "in flight without one: \(bare.count), gone with the only copy: \(bare.count { !$0.survived })"
                + ", the latest \(bare.filter { !$0.survived }.compactMap(\.sinceCommit).max() ?? .zero)"
                + " after the commit",
        ]
        let died = bare.count { !$0.survived }
        let count = "\(kills) kills, \(faults.count) sessions lost; \(died) more whose only copy died"
        return (faults + lines + [count]).joined(separator: "\n")
    }
}
