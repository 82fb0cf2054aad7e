/// A whole schedule: with the seed, everything that happens follows from it.
package struct Schedule: Sendable, Equatable {
    /// Of what is left to chance: how long each answer takes, and the agent's own jitter.
    package var seed: UInt64
    package var setting: Setting
    package var moves: [SimulationStep<SimulatedOperation>]

    package init(seed: UInt64, setting: Setting = Setting(), moves: [SimulationStep<SimulatedOperation>]) {
        self.seed = seed
        self.setting = setting
        self.moves = moves
    }
}

extension Schedule: CustomStringConvertible {
    /// As a test could hold it.
    package var description: String {
        (["seed \(seed), \(setting)"] + moves.map { "  \($0.pause) → \($0.deed)" }).joined(separator: "\n")
    }
}

extension Schedule: Shortenable {
    static var simplifications: [(inout Schedule) -> Void] {
        let usual = Setting()
        return [
            { $0.setting.sessions = 1 }, { $0.setting.agents = 1 }, { $0.setting.targets = usual.targets },
            { $0.setting.life = usual.life }, { $0.setting.rotation = usual.rotation },
            { $0.setting.answerTime = .milliseconds(100)...Duration.milliseconds(100) },
            { $0.setting.storeTime = .milliseconds(10)...Duration.milliseconds(10) }, { $0.seed = 1 },
        ]
    }
}
