/// Many schedules, each from its own seed.
package struct Campaign: Sendable {
    /// A rule that was broken: how often, and by which seed first.
    package struct Failure: Sendable {
        package fileprivate(set) var seed: UInt64
        package fileprivate(set) var violation: Violation
        package fileprivate(set) var count = 1
    }

    package private(set) var played = 0
    /// Events in all schedules.
    package private(set) var eventCount = 0
    package private(set) var coverage = Coverage()
    package private(set) var outbox = OutboxCoverage()
    package private(set) var signIns = SignInCoverage()
    package private(set) var clusters = ClusterCoverage()
    package private(set) var failures: [Rule: Failure] = [:]

    private init() {}

    /// - Parameter workers: so many threads at most.
    package static func played(seeds: Range<UInt64>, workers: Int) async -> Campaign {
        await withTaskGroup(of: Campaign.self) { group in
            var whole = Campaign()
            var next = seeds.lowerBound
            var running = 0
            while next < seeds.upperBound || running > 0 {
                if next < seeds.upperBound, running < workers {
                    let share = next..<min(next + batch, seeds.upperBound)
                    next = share.upperBound
                    running += 1
                    group.addTask { Campaign(playing: share) }
                } else if let part = await group.next() {
                    running -= 1
                    whole.add(part)
                }
            }
            return whole
        }
    }

    private static let clusterSpacing: UInt64 = 100
    /// What one thread plays at a time.
    private static let batch: UInt64 = 500

    package init(playing seeds: Range<UInt64>) {
        for seed in seeds {
            played += 1
            coverage.add(play(SessionSimulation.self, seed))
            outbox.add(play(OutboxSimulation.self, seed))
            signIns.add(play(SignInSimulation.self, seed))
            // These take as long as a hundred others.
            if seed.isMultiple(of: Self.clusterSpacing) { clusters.add(play(ClusterSimulation.self, seed)) }
        }
    }

    private mutating func play<Kind: SimulationKind>(_ kind: Kind.Type, _ seed: UInt64) -> Kind.Coverage {
        let outcome = kind.play(kind.schedule(seed: seed))
        eventCount += outcome.eventCount
        if let violation = outcome.violation { add(Failure(seed: seed, violation: violation)) }
        return outcome.coverage
    }

    private mutating func add(_ other: Campaign) {
        played += other.played
        eventCount += other.eventCount
        coverage.add(other.coverage)
        outbox.add(other.outbox)
        signIns.add(other.signIns)
        clusters.add(other.clusters)
        for failure in other.failures.values { add(failure) }
    }

    private mutating func add(_ failure: Failure) {
        guard var known = failures[failure.violation.rule] else {
            failures[failure.violation.rule] = failure
            return
        }
        known.count += failure.count
        if failure.seed < known.seed { (known.seed, known.violation) = (failure.seed, failure.violation) }
        failures[failure.violation.rule] = known
    }
}

extension Campaign {
    /// The shortest schedule of each rule broken, the coverage, and the count last.
    package var report: String {
        var lines: [String] = []
        for (rule, failure) in failures.sorted(by: { $0.value.seed < $1.value.seed }) {
            lines.append("Broken by \(failure.count) schedules: \(rule.rawValue)")
            lines.append("To see it again: make simulate SEEDS=1 FIRST=\(failure.seed)")
            lines.append(rule.simulation.report(seed: failure.seed) + "\n")
        }
        lines.append(
            "Machine transitions seen: \(coverage.transitions), from \(coverage.pairs) pairs of state and event")
        for (state, events) in coverage.neverSeen {
            lines.append("  never in \(state): \(events.map { "\($0)" }.joined(separator: ", "))")
        }
        lines.append("Things that happened: \(eventCount)")
        lines.append("Calls at the provider: \(coverage.calls), at most \(coverage.maxCalls) of a session in an hour")
        lines.append(outbox.words)
        lines.append(signIns.words)
        lines.append(clusters.words)
        lines.append("Rules broken: \(failures.count)")
        lines.append("Schedules: \(played)")
        return lines.joined(separator: "\n")
    }
}
