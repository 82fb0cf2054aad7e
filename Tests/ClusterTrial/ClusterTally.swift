/// The outcomes of many faults.
package struct ClusterTally: Sendable {
    private var outcomes: [FaultOutcome] = []
    /// One line for each invariant that was broken.
    package private(set) var faults: [String] = []
    package var renewals = 0
    package var repeats = 0
    /// The hosts that have renewed tokens during the faults, in this order.
    package var renewers: [String] = []
    package var served = ServedTokens()
    package private(set) var hostTimes = HostTimes()

    package init() {}

    package mutating func note(_ outcome: FaultOutcome) {
        outcomes.append(outcome)
        faults += outcome.allFaults.map { "seed \(outcome.plan.seed): \($0) (\(outcome.plan))" }
    }

    /// - Parameter seed: of the last fault before it was noticed.
    package mutating func note(_ clients: [String], seed: UInt64) {
        faults += clients.map { "seed \(seed): \($0)" }
    }

    /// - Parameter clients: the faults that clients noticed in this time.
    package mutating func note(_ times: HostTimes, clients: [String]) {
        hostTimes = times
        faults += times.faults + clients.map { "while nothing fails: \($0)" }
    }

    package var count: Int { outcomes.count }

    /// Sessions whose loss nothing could prevent.
    package var excusedLosses: Int { outcomes.count { $0.isLost && $0.allFaults.isEmpty } }

    /// The last line is the count.
    package var report: String {
        var lines = FaultPlan.Kind.allCases.compactMap { kind -> String? in
            let count = outcomes.count { $0.plan.kind == kind }
            return count > 0 ? "\(kind.rawValue): \(count)" : nil
        }
        let plain = outcomes.filter { !$0.interruptedRenewal && !$0.isLost }
        let interrupted = outcomes.filter { $0.interruptedRenewal && !$0.isLost }
        lines += [
            "renewals: \(renewals), with a used token in its grace period: \(repeats)",
            followers,
            "faults that interrupted a renewal: \(outcomes.count(where: \.interruptedRenewal))",
            "longest time until all agents had the same token: \(longest(plain)); after an interrupted renewal "
                + "\(longest(interrupted)); after the loss of a session \(longest(outcomes.filter(\.isLost)))",
            "longest time that an agent served a token after another one had a newer one, without a fault: "
                + served.longestLag.inWords,
            "\(hostTimes)",
            arrivals,
            "requests with a token: \(served.served), the longest wait \(served.longestWait.inWords)",
        ]
        let failures = served.failures.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
        lines += failures.map { "requests without one, \($0.key): \($0.value)" }
        lines += [
            "tokens served after the provider had revoked them, by agents that it had not told: \(served.revoked), at most "
                + "\(served.longestRevoked.inWords) later",
            "tokens served after their end: \(served.late), at most \(served.latest.inWords) later",
        ]
        let causes = FaultPlan.Kind.allCases.compactMap { kind -> String? in
            let count = outcomes.count { $0.isLost && $0.allFaults.isEmpty && $0.plan.kind == kind }
            return count > 0 ? "\(kind.rawValue) \(count)" : nil
        }
        if !causes.isEmpty { lines.append("faults that ended a session: \(causes.joined(separator: ", "))") }
        let lost = outcomes.count(where: \.isLost)
        lines.append(
            "\(count) faults, \(faults.count) broken rules, \(lost - excusedLosses) sessions lost; \(excusedLosses) more "
                + "whose only copy was lost (\(FaultOutcome.interrupted))")
        return (faults + lines).joined(separator: "\n")
    }

    /// What clients that ask again and again see. The times include the pause until one of them asks, up to 750 ms.
    private var arrivals: String {
        let all = served.arrivals
        guard let spread = HostTimes.Spread(all) else { return "new tokens at other agents, without a fault: none" }
        let within = all.count { $0 <= HostTimes.tokenGoal }
        return
            "new tokens at clients of other agents, without a fault: \(all.count), \(within) of them served within 100 ms "
            + "of their issue, half within \(spread.median.inWords), 99 of 100 within \(spread.p99.inWords), "
            + "the last one after \(spread.longest.inWords)"
    }

    /// A host that has renewed goes first the next time, unless a fault keeps it from that.
    private var followers: String {
        let same = zip(renewers, renewers.dropFirst()).count { $0 == $1 }
        return "renewals by the host of the one before, during the faults: \(same) of \(max(0, renewers.count - 1))"
    }

    private func longest(_ outcomes: [FaultOutcome]) -> String {
        outcomes.compactMap(\.converged).max().map(\.inWords) ?? "none"
    }
}
