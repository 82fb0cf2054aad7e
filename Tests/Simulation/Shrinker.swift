/// Makes a failing schedule short: leaves out steps, then makes those left simpler, as long as it still fails.
package struct Shrinker<Schedule: SimulationSchedule> {
    private(set) var best: Schedule
    let fails: (Schedule) -> Bool
    /// The most schedules to play.
    private var left: Int

    private init(best: Schedule, mostPlays: Int, fails: @escaping (Schedule) -> Bool) {
        self.best = best
        self.fails = fails
        left = mostPlays
    }

    /// The shortest schedule found that breaks the same rule; unchanged if it breaks none.
    /// - Parameter mostPlays: the default is enough for the longest schedules; use less if one takes seconds.
    package static func shortened<Broken: Equatable>(
        _ schedule: Schedule, mostPlays: Int = 5000, broken: @escaping (Schedule) -> Broken?
    ) -> Schedule {
        guard let rule = broken(schedule) else { return schedule }
        var shrinker = Shrinker(best: schedule, mostPlays: mostPlays) { broken($0) == rule }
        shrinker.run()
        return shrinker.best
    }

    private mutating func run() {
        var before = best
        repeat {
            before = best
            leaveOutSteps()
            simplifyPauses()
            simplifySetting()
        } while best != before && left > 0
    }

    private mutating func leaveOutSteps() {
        var size = max(1, best.steps.count / 2)
        while true {
            var start = 0
            while start < best.steps.count {
                var candidate = best
                candidate.steps.removeSubrange(start..<min(start + size, candidate.steps.count))
                if !accept(candidate) { start += size }
            }
            guard size > 1 else { return }
            size /= 2
        }
    }

    private mutating func simplifyPauses() {
        for index in best.steps.indices {
            for pause in best.steps[index].pause.simpler {
                var candidate = best
                candidate.steps[index].pause = pause
                if accept(candidate) { break }
            }
        }
    }

    private mutating func simplifySetting() {
        for simplification in Schedule.simplifications {
            var candidate = best
            simplification(&candidate)
            if candidate != best { _ = accept(candidate) }
        }
    }

    private mutating func accept(_ candidate: Schedule) -> Bool {
        guard left > 0 else { return false }
        left -= 1
        guard fails(candidate) else { return false }
        best = candidate
        return true
    }
}

extension Pause {
    /// What could stand for it, the simplest first.
    fileprivate var simpler: [Pause] {
        switch self {
        case .events(0): []
        case .events(let count):
            [.events(0)] + (1..<count).map { .events($0) }
        case .time(.zero): [.events(0)]
        case .time(let duration):
            [.events(0), .time(.zero)]
                + [.seconds(1), .seconds(60), .seconds(3600)].filter { $0 < duration }.map { .time($0) }
                + (duration.isWholeSeconds ? [] : [.time(.seconds(duration.components.seconds))])
        }
    }
}

extension Duration {
    fileprivate var isWholeSeconds: Bool { components.attoseconds == 0 }
}
