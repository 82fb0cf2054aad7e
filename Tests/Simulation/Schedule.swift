/// A whole schedule: with the seed, everything that happens follows from it.
package struct Schedule: Sendable, Equatable {
    /// Of what is left to chance: how long each answer takes, and the agent's own jitter.
    package var seed: UInt64
    package var setting: Setting
    package var moves: [Move]

    package init(seed: UInt64, setting: Setting = Setting(), moves: [Move]) {
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
