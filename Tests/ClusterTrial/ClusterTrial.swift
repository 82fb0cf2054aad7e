import AuthClient
import AuthWire
import Foundation
import StandInBackends

/// Interrupts a real cluster again and again, and judges what the provider and 200 clients saw
/// (Docs/decisions/cluster-trial.md).
package enum ClusterTrial {
    /// A cluster that is not well after that does not become so.
    private static let longestRecovery = Duration.seconds(150)
    /// An ordinary renewal takes less.
    private static let renewal = Duration.seconds(1)

    /// - Parameter report: gets one line for each fault, as soon as it is over.
    package static func run(
        seeds: Range<UInt64>, report: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> ClusterTally {
        try await ClusterWorld.play { world in
            var tally = ClusterTally()
            guard await converge(world).answered else {
                throw TrialError("the agents do not serve the same token:\n\(world.hosts[1].lastLines)")
            }
            world.clients.allIsWell()
            var leaders = LeaderTerms(await world.term(), at: .now)
            let times = try await UndisturbedRounds.play(before: seeds.count, in: world)
            leaders.note(await world.term(), at: .now)
            tally.note(times, clients: world.clients.newFaults(leaders))
            report("\(times)")
            for fault in tally.faults { report("    BROKEN: \(fault)") }
            world.clients.allIsWell()
            let undisturbed = world.server.renewals.count
            for seed in seeds {
                let plan = FaultPlan(seed: seed, hosts: ClusterWorld.hostCount, members: ClusterWorld.memberCount)
                let outcome = try await outcome(of: plan, in: world)
                leaders.note(await world.term(), at: .now)
                let clientFaults = world.clients.newFaults(leaders)
                tally.note(outcome)
                tally.note(clientFaults, seed: seed)
                report("\(outcome)")
                for fault in outcome.allFaults + clientFaults { report("    BROKEN: \(fault)") }
                // A seed does not repeat the machine's timing: what the agents wrote may be all that there is.
                if !outcome.allFaults.isEmpty || !clientFaults.isEmpty {
                    for host in world.hosts { report("    \(host.address) wrote:\n\(host.lastLines)") }
                }
            }
            tally.served = world.clients.served
            let renewals = world.server.renewals.compactMap(\.outcome.isRepeated)
            tally.renewers = world.server.renewals.dropFirst(undisturbed).filter { $0.accessToken != nil }
                .compactMap(\.client)
            (tally.renewals, tally.repeats) = (renewals.count, renewals.count(where: \.self))
            return tally
        }
    }

    /// Whether all agents come to serve the same token.
    static func isShared(in world: ClusterWorld) async -> Bool { await converge(world).answered }

    private static func outcome(of plan: FaultPlan, in world: ClusterWorld) async throws -> FaultOutcome {
        var outcome = FaultOutcome(plan)
        world.use(grace: plan.hasGrace)
        let judged = world.server.renewals.count
        let host = try await world.target(of: plan)
        try await world.interrupt(by: plan, host)
        let healed = ContinuousClock.now
        async let left = interruptedRenewal(world)
        var end = await converge(world)
        let interrupted = try await left
        outcome.interruptedRenewal = !interrupted.isEmpty
        // The agents may have had the same token before, and then not known of the interruption.
        if try await isOver(interrupted, world) { end = await converge(world) }
        outcome.lossCauses = end.lossCauses
        if let lost = end.lostOn {
            try await world.hosts[lost].signIn { try world.server.decide(userCode: $0, approve: true) }
            if await converge(world).answered { outcome.converged = healed.duration(to: .now) }
        } else if end.answered {
            outcome.converged = healed.duration(to: .now)
        }
        let served = world.clients.served
        outcome.reuses = Reuse.all(
            in: world.server.renewals, from: judged, interruptions: world.clients.interruptions,
            servedElsewhere: { served.firstServed($0, exceptBy: $1) })
        world.clients.allIsWell()
        return outcome
    }

    /// What etcd has of a renewal for longer than one takes: then another host waits for its result.
    private static func interruptedRenewal(_ world: ClusterWorld) async throws -> Set<String> {
        let before = try await world.renewalInProgress()
        guard !before.isEmpty else { return [] }
        try await Task.sleep(for: renewal)
        return try await world.renewalInProgress().intersection(before)
    }

    /// Waits until nothing of an interrupted renewal is left.
    /// - Returns: whether it had to wait.
    private static func isOver(_ interrupted: Set<String>, _ world: ClusterWorld) async throws -> Bool {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < longestRecovery {
            if try await world.renewalInProgress().isDisjoint(with: interrupted) { break }
        }
        return !interrupted.isEmpty
    }

    private struct End {
        var answered = false
        /// A host whose session is lost.
        var lostOn: Int?
        var lossCauses: Set<String> = []
    }

    /// Asks until all agents serve the same token that the provider accepts, or until the session is lost.
    private static func converge(_ world: ClusterWorld) async -> End {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < longestRecovery {
            let answers = await world.answers()
            let tokens = Set(answers.compactMap { try? $0.get() })
            if tokens.count == 1, answers.allSatisfy({ (try? $0.get()) != nil }), let token = tokens.first,
                world.server.standing(ofAccessToken: token)?.revokedAt == nil
            {
                return End(answered: true)
            }
            var causes: [Int: String] = [:]
            for (index, answer) in answers.enumerated() {
                guard case .failure(.agent(let error)) = answer, error.kind == .signInRequired else { continue }
                causes[index] = error.cause ?? "none"
            }
            // The others find out when they need another token.
            let isEverywhere = causes.count == answers.count || ContinuousClock.now - start > longestRecovery / 2
            if isEverywhere, let lost = causes.keys.min() {
                return End(lostOn: lost, lossCauses: Set(causes.values))
            }
            await Task.yield()
        }
        return End()
    }
}

/// Why there is no trial.
package struct TrialError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension OAuthRenewal.Outcome {
    /// `nil`: it was refused.
    fileprivate var isRepeated: Bool? {
        if case .renewed(_, let isRepeated) = self { isRepeated } else { nil }
    }
}
