import StandInBackends

/// Kills the real agent around a renewal, again and again, and counts the sessions that did not outlive it.
package enum CrashTrial {
    /// Every other kill is at a provider that takes a replaced token for a while, as some do for a lost answer.
    package static func run(seeds: Range<UInt64>) async throws -> KillTally {
        try await withThrowingTaskGroup(of: KillTally.self) { group in
            for hasGrace in [true, false] {
                let plans = seeds.filter { $0.isMultiple(of: 2) == hasGrace }.map(KillPlan.init)
                group.addTask { try await run(plans, hasGrace: hasGrace) }
            }
            return try await group.reduce(into: KillTally()) { $0.add($1) }
        }
    }

    private static func run(_ plans: [KillPlan], hasGrace: Bool) async throws -> KillTally {
        guard !plans.isEmpty else { return KillTally() }
        return try await CrashWorld.play(hasGrace: hasGrace) { world in
            var tally = KillTally()
            // Its answer is the newest token of the provider, from here on.
            _ = try await world.renews()
            for plan in plans { tally.note(try await outcome(of: plan, hasGrace: hasGrace, in: world)) }
            return tally
        }
    }

    /// Leaves the world with a running agent and a session that was just renewed.
    private static func outcome(
        of plan: KillPlan, hasGrace: Bool, in world: CrashWorld
    ) async throws -> KillOutcome {
        let former = world.backends.renewals.count
        let killed = try await world.kill(by: plan)
        let token = try await world.storedToken()
        try await world.start()
        // Looked at this late, as the provider goes on with what it was asked for before the kill.
        let renewals = world.backends.renewals
        let commit = renewals.count > former ? renewals.last : nil
        let stored: KillOutcome.Stored =
            switch token {
            case nil: .neither
            case renewals.last?.token: .newest
            case commit?.former: .former
            default: .neither
            }
        let survived = try await world.renews()
        if !survived {
            try await world.signIn()
            _ = try await world.renews()
        }
        return KillOutcome(
            plan: plan, hasGrace: hasGrace, sinceCommit: commit.map { killed.at - $0.at }, stored: stored,
            wasNotified: killed.wasNotified, survived: survived)
    }
}
