import AuthModel

/// When one kill comes. All of it follows from the seed; what the machine does in that time does not.
package struct KillPlan: Sendable, Equatable {
    package enum Start: Sendable, Equatable {
        /// The renewal was asked for.
        case asked
        /// The provider has put a new token in the place of the old one.
        case committed
    }

    package let seed: UInt64
    package let start: Start
    /// From ``start`` to the kill.
    package let wait: Duration
    /// How long the provider keeps its answer back once it has committed.
    package let answerHeld: Duration

    /// Two or three times what a renewal takes on a slow machine, so that kills fall before, into and after it.
    static let longestRenewal = Duration.milliseconds(80)
    /// From the provider's commit to the keyring's answer.
    static let longestSaving = Duration.milliseconds(30)
    static let longestHold = Duration.milliseconds(10)

    package init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        self.seed = seed
        start = Bool.random(using: &random) ? .asked : .committed
        wait = random.duration(in: .zero...(start == .asked ? Self.longestRenewal : Self.longestSaving))
        answerHeld = Bool.random(using: &random) ? random.duration(in: .zero...Self.longestHold) : .zero
    }
}
