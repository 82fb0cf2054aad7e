import AuthModel

/// A schedule: with the seed, everything that happens follows from it.
package protocol SimulationSchedule: Sendable, Equatable, CustomStringConvertible {
    associatedtype Operation: Sendable & Equatable

    /// For what is left to chance: the time of each response, and the machine's own jitter.
    var seed: UInt64 { get }
    var steps: [SimulationStep<Operation>] { get set }
    /// All of it but the steps.
    var heading: String { get }
    /// Each makes the rest of it simpler, independently of the others.
    static var simplifications: [(inout Self) -> Void] { get }
}

extension SimulationSchedule {
    /// As a test could contain it.
    package var description: String {
        ([heading] + steps.map { "  \($0.pause) → \($0.operation)" }).joined(separator: "\n")
    }
}

/// A schedule of sessions.
package struct Schedule: SimulationSchedule {
    package var seed: UInt64
    package var setting = Setting()
    package var steps: [SimulationStep<SimulatedOperation>]

    package init(seed: UInt64, setting: Setting = Setting(), steps: [SimulationStep<SimulatedOperation>]) {
        self.seed = seed
        self.setting = setting
        self.steps = steps
    }

    package var heading: String { "seed \(seed), \(setting)" }

    package static var simplifications: [(inout Schedule) -> Void] {
        let usual = Setting()
        return [
            { $0.setting.sessions = 1 }, { $0.setting.agents = 1 }, { $0.setting.targets = usual.targets },
            { $0.setting.renewsBeforeEnd = nil }, { $0.setting.revokesFamily = true },
            { $0.setting.hasAtomicUpdates = true },
            { $0.setting.life = usual.life }, { $0.setting.rotation = usual.rotation },
            { $0.setting.answerTime = .milliseconds(100)...Duration.milliseconds(100) },
            { $0.setting.storeTime = .milliseconds(10)...Duration.milliseconds(10) }, { $0.seed = 1 },
        ]
    }
}
