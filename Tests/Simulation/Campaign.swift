/// Many schedules, each from a seed of its own.
package struct Campaign: Sendable {
    /// A rule that was broken: how often, and by which seed first.
    package struct Failure: Sendable {
        package fileprivate(set) var seed: UInt64
        package fileprivate(set) var violation: Violation
        package fileprivate(set) var count = 1
    }

    package private(set) var played = 0
    /// Things that happened in them.
    package private(set) var happenings = 0
    package private(set) var coverage = Coverage()
    package private(set) var outbox = OutboxCoverage()
    package private(set) var signIns = SignInCoverage()
    package private(set) var failures: [Rule: Failure] = [:]

    package init() {}

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

    /// What one thread plays at a time.
    private static let batch: UInt64 = 500

    package init(playing seeds: Range<UInt64>) {
        for seed in seeds {
            var maker = ScheduleMaker(seed: seed)
            let outcome = Simulation.play(maker.schedule())
            played += 1
            happenings += outcome.happenings
            coverage.add(outcome.coverage)
            if let violation = outcome.violation { add(Failure(seed: seed, violation: violation)) }
            playOutbox(seed)
            playSignIns(seed)
        }
    }

    private mutating func playOutbox(_ seed: UInt64) {
        var maker = OutboxScheduleMaker(seed: seed)
        let outcome = OutboxSimulation.play(maker.schedule())
        happenings += outcome.happenings
        outbox.add(outcome.coverage)
        if let violation = outcome.violation { add(Failure(seed: seed, violation: violation)) }
    }

    private mutating func playSignIns(_ seed: UInt64) {
        var maker = SignInScheduleMaker(seed: seed)
        let outcome = SignInSimulation.play(maker.schedule())
        happenings += outcome.happenings
        signIns.add(outcome.coverage)
        if let violation = outcome.violation { add(Failure(seed: seed, violation: violation)) }
    }

    private mutating func add(_ other: Campaign) {
        played += other.played
        happenings += other.happenings
        coverage.add(other.coverage)
        outbox.add(other.outbox)
        signIns.add(other.signIns)
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
    /// For people: the shortest schedule of each rule broken, the coverage, and the count last.
    package var report: String {
        var lines: [String] = []
        for (rule, failure) in failures.sorted(by: { $0.value.seed < $1.value.seed }) {
            lines.append("Broken by \(failure.count) schedules: \(rule.rawValue)")
            lines.append("To see it again: make simulate SEEDS=1 FIRST=\(failure.seed)")
            lines.append(Self.report(rule, failure.seed) + "\n")
        }
        lines.append(
            "Machine transitions seen: \(coverage.transitions), from \(coverage.pairs) pairs of state and event")
        for (state, events) in coverage.neverSeen {
            lines.append("  never in \(state): \(events.map { "\($0)" }.joined(separator: ", "))")
        }
        lines.append("Things that happened: \(happenings)")
        lines.append("Calls at the provider: \(coverage.calls), at most \(coverage.maxCalls) of a session in an hour")
        lines.append(outbox.words)
        lines.append(signIns.words)
        lines.append("Rules broken: \(failures.count)")
        lines.append("Schedules: \(played)")
        return lines.joined(separator: "\n")
    }

    private static func report(_ rule: Rule, _ seed: UInt64) -> String {
        if rule.isOfOutbox {
            var maker = OutboxScheduleMaker(seed: seed)
            return OutboxSimulation.report(maker.schedule())
        }
        if rule.isOfSignIn {
            var maker = SignInScheduleMaker(seed: seed)
            return SignInSimulation.report(maker.schedule())
        }
        var maker = ScheduleMaker(seed: seed)
        return Simulation.report(maker.schedule())
    }
}
