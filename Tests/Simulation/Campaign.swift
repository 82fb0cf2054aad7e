/// Many schedules, each from its own seed.
package struct Campaign: Sendable {
    /// A rule that was broken: how often, and by which seed first.
    package struct Failure: Sendable {
        package fileprivate(set) var seed: UInt64
        package fileprivate(set) var violation: Violation
        package fileprivate(set) var count = 1
    }

    /// What is played for each seed.
    package enum Worlds: Sendable {
        case all
        /// Only hosts that share a session.
        case clusters
    }

    let worlds: Worlds
    package private(set) var played = 0
    /// Events in all schedules.
    package private(set) var eventCount = 0
    package private(set) var coverage = Coverage()
    package private(set) var outbox = OutboxCoverage()
    package private(set) var signIns = SignInCoverage()
    package private(set) var clusters = ClusterCoverage()
    package private(set) var failures: [Rule: Failure] = [:]

    private init(_ worlds: Worlds) {
        self.worlds = worlds
    }

    /// - Parameter workers: so many threads at most.
    package static func played(seeds: Range<UInt64>, in worlds: Worlds = .all, workers: Int) async -> Campaign {
        await withTaskGroup(of: Campaign.self) { group in
            var whole = Campaign(worlds)
            var next = seeds.lowerBound
            var running = 0
            while next < seeds.upperBound || running > 0 {
                if next < seeds.upperBound, running < workers {
                    let share = next..<min(next + batch(of: worlds), seeds.upperBound)
                    next = share.upperBound
                    running += 1
                    group.addTask { Campaign(playing: share, in: worlds) }
                } else if let part = await group.next() {
                    running -= 1
                    whole.add(part)
                }
            }
            return whole
        }
    }

    private static let clusterSpacing: UInt64 = 10
    /// What one thread plays at a time.
    private static func batch(of worlds: Worlds) -> UInt64 { worlds == .all ? 500 : 500 / clusterSpacing }

    package init(playing seeds: Range<UInt64>, in worlds: Worlds = .all) {
        self.init(worlds)
        for seed in seeds {
            played += 1
            guard worlds == .all else {
                clusters.add(play(ClusterSimulation.self, seed))
                continue
            }
            coverage.add(play(SessionSimulation.self, seed))
            outbox.add(play(OutboxSimulation.self, seed))
            signIns.add(play(SignInSimulation.self, seed))
            // One of these takes as long as the three above.
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
            lines.append("To see it again: make \(rule.command) FIRST=\(failure.seed)")
            lines.append(rule.simulation.report(seed: failure.seed) + "\n")
        }
        if worlds == .all { lines += wordsOfSessions }
        lines.append("Things that happened: \(eventCount)")
        if worlds == .all { lines += [wordsOfCalls, outbox.words, signIns.words] }
        lines.append(clusters.words)
        lines.append("Rules broken: \(failures.count)")
        lines.append("Schedules: \(played)")
        return lines.joined(separator: "\n")
    }

    private var wordsOfSessions: [String] {
        let seen = "Machine transitions seen: \(coverage.transitions), from \(coverage.pairs) pairs of state and event"
        return [seen]
            + coverage.neverSeen.map { state, events in
                "  never in \(state): \(events.map { "\($0)" }.joined(separator: ", "))"
            }
    }

    private var wordsOfCalls: String {
        "Calls at the provider: \(coverage.calls), at most \(coverage.maxCalls) of a session in an hour"
    }
}
