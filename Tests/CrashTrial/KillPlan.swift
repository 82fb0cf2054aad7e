import AuthModel

/// The moment of one kill. It follows from the seed; what the machine does until then does not.
package struct KillPlan: Sendable, Equatable {
    package enum Start: Sendable, Equatable {
        /// The renewal was requested.
        case asked
        /// The provider has replaced the token.
        case committed
    }

    package let seed: UInt64
    package let start: Start
    /// From ``start`` to the kill.
    package let wait: Duration
    /// How long the provider delays its response after the commit.
    package let answerHeld: Duration

    /// Two or three times the duration of a renewal on a slow machine, so that kills come before, during and after it.
    static let longestRenewal = Duration.milliseconds(80)
    /// From the provider's commit to the keyring's reply.
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
