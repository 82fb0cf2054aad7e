/// A schedule that can be made shorter and plainer.
protocol Shortenable: Equatable {
    associatedtype Operation: Sendable & Equatable

    var moves: [SimulationStep<Operation>] { get set }
    /// What makes the rest of it plainer, each for itself.
    static var simplifications: [(inout Self) -> Void] { get }
}

/// Makes a failing schedule short: leaves out moves, then makes those left simpler, as long as it still fails.
struct Shrinker<Schedule: Shortenable> {
    private(set) var best: Schedule
    let fails: (Schedule) -> Bool
    /// Schedules played at most: enough for the longest there are.
    private var left = 5000

    private init(best: Schedule, fails: @escaping (Schedule) -> Bool) {
        self.best = best
        self.fails = fails
    }

    /// The shortest schedule found that breaks the same rule; as it is where it breaks none.
    static func shortened(_ schedule: Schedule, broken: @escaping (Schedule) -> Rule?) -> Schedule {
        guard let rule = broken(schedule) else { return schedule }
        var shrinker = Shrinker(best: schedule) { broken($0) == rule }
        shrinker.run()
        return shrinker.best
    }

    mutating func run() {
        var before = best
        repeat {
            before = best
            leaveOutMoves()
            simplifyPauses()
            simplifySetting()
        } while best != before && left > 0
    }

    private mutating func leaveOutMoves() {
        var size = max(1, best.moves.count / 2)
        while true {
            var start = 0
            while start < best.moves.count {
                var candidate = best
                candidate.moves.removeSubrange(start..<min(start + size, candidate.moves.count))
                if !take(candidate) { start += size }
            }
            guard size > 1 else { return }
            size /= 2
        }
    }

    private mutating func simplifyPauses() {
        for index in best.moves.indices {
            for pause in best.moves[index].pause.simpler {
                var candidate = best
                candidate.moves[index].pause = pause
                if take(candidate) { break }
            }
        }
    }

    private mutating func simplifySetting() {
        for simplification in Schedule.simplifications { change(simplification) }
    }

    private mutating func change(_ change: (inout Schedule) -> Void) {
        var candidate = best
        change(&candidate)
        if candidate != best { _ = take(candidate) }
    }

    private mutating func take(_ candidate: Schedule) -> Bool {
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
        case .happenings(0): []
        case .happenings(let count):
            [.happenings(0)] + (1..<count).map { .happenings($0) }
        case .time(.zero): [.happenings(0)]
        case .time(let duration):
            [.happenings(0), .time(.zero)]
                + [.seconds(1), .seconds(60), .seconds(3600)].filter { $0 < duration }.map { .time($0) }
                + (duration.isWholeSeconds ? [] : [.time(.seconds(duration.components.seconds))])
        }
    }
}

extension Duration {
    fileprivate var isWholeSeconds: Bool { components.attoseconds == 0 }
}
