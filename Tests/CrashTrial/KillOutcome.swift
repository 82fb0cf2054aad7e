/// What one kill found, and what the agent that came after it made of that.
package struct KillOutcome: Sendable {
    /// Which token the keyring held when the agent was dead.
    package enum Stored: Sendable {
        /// The one that the provider gave out last.
        case newest
        /// The one before: the provider had given out another, and it was not yet in the keyring.
        case former
        /// Another one, or none at all.
        case neither
    }

    package var plan: KillPlan
    package var hasGrace: Bool
    /// From the provider's commit to the kill; `nil` where it had not committed.
    package var sinceCommit: Duration?
    package var stored: Stored
    /// The caller had its answer before the kill.
    package var wasNotified: Bool
    /// The agent that came after could renew the session.
    package var survived: Bool

    package init(
        plan: KillPlan, hasGrace: Bool, sinceCommit: Duration?, stored: Stored, wasNotified: Bool, survived: Bool
    ) {
        self.plan = plan
        self.hasGrace = hasGrace
        self.sinceCommit = sinceCommit
        self.stored = stored
        self.wasNotified = wasNotified
        self.survived = survived
    }

    /// The new token was given out and not yet kept: it was on its way, or in the memory that was lost.
    package var wasInFlight: Bool { sinceCommit != nil && stored == .former }

    /// Whether the provider's answer had left it.
    package var wasAnswered: Bool { sinceCommit.map { $0 > plan.answerHeld } ?? false }

    /// What must not be; `nil` where all is as it must be.
    package var fault: String? {
        if stored == .neither { return "the keyring held neither the newest token nor the one before" }
        if wasNotified, stored != .newest { return "the caller was told of a token that the keyring did not hold" }
        guard !survived else { return nil }
        // Nobody in the world has the new token, and the provider takes the old one no more.
        if wasInFlight, !hasGrace { return nil }
        return "the session was lost" + (wasInFlight ? ", within the provider's grace" : "")
    }
}
