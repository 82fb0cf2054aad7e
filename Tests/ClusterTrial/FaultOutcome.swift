/// What came after one fault.
package struct FaultOutcome: Sendable {
    package let plan: FaultPlan
    /// A renewal was interrupted, and another host waits for the end of it.
    package var interruptedRenewal = false
    /// From the end of the fault until all agents served the same valid token; `nil`: they did not in time.
    package var converged: Duration?
    /// Refresh tokens that were sent a second time.
    package var reuses: [Reuse] = []
    /// Why hosts have lost the session, each cause once. Empty: it was not lost.
    package var lossCauses: Set<String> = []
    /// What else must not be.
    package var faults: [String] = []

    package init(_ plan: FaultPlan) {
        self.plan = plan
    }

    /// Calls that began during the fault take up to 5 s, and a connection whose packets got lost is noticed by a call that
    /// takes 2 s. The machine adds the rest.
    package static let convergence = Duration.seconds(12)
    /// The end of the lease, the limit of the request that may still be on its way, the time to write its result, the next
    /// attempt, and ``convergence``.
    package static let convergenceAfterInterruption = Duration.seconds(10 + 30 + 15 + 5) + convergence
    /// The cause of a session that was lost by an interruption. The host that was interrupted, and has the newest
    /// tokens, does not know it.
    package static let interrupted = "renewal_interrupted"

    package var isLost: Bool { !lossCauses.isEmpty }

    /// Everything that must not be.
    package var allFaults: [String] {
        var all = faults
        let bound = interruptedRenewal || isLost ? Self.convergenceAfterInterruption : Self.convergence
        if let converged {
            if converged > bound { all.append("the agents had the same token only after \(converged.inWords)") }
        } else {
            all.append("the agents did not come to the same token")
        }
        for reuse in reuses {
            if case .fault(let words) = reuse.verdict { all.append("a used refresh token: " + words) }
            if reuse.endedSession, plan.hasGrace { all.append("a session was lost in spite of the grace window") }
        }
        if isLost, !lossCauses.contains(Self.interrupted) { all.append("no host names the cause of the loss") }
        if isLost, !reuses.contains(where: \.endedSession) {
            all.append("a session was lost that the provider honours")
        }
        return all
    }
}

extension FaultOutcome: CustomStringConvertible {
    package var description: String {
        var words = ["\(plan)", converged.map { "the same token after \($0.inWords)" } ?? "no common token"]
        if interruptedRenewal { words.append("a renewal was interrupted") }
        for reuse in reuses {
            if case .excused(let kind) = reuse.verdict {
                words.append("a used token was sent, excused by \(kind.rawValue)")
            }
        }
        if isLost { words.append("the session was lost (\(lossCauses.sorted().joined(separator: ", ")))") }
        return words.joined(separator: "; ")
    }
}
