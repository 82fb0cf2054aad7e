package import AuthModel
package import AuthWire

/// The last steps of sign-ins that have ended, for clients that ask late.
///
/// Invariant: it keeps at most ``most`` steps, the latest ones, and returns each for ``lifetime`` at most.
package struct EndedSignIns: Sendable {
    /// As many as may be in progress at once.
    package static let most = 64
    /// More than a client needs to connect again and ask.
    package static let lifetime = Duration.seconds(300)

    /// The oldest first.
    private var kept: [(step: Step, end: BootInstant)] = []

    package init() {}

    package var count: Int { kept.count }

    /// - Parameter step: has no secrets, as every step of a sign-in.
    package mutating func add(_ step: Step, at now: BootInstant) {
        removeOld(now)
        if kept.count == Self.most { kept.removeFirst() }
        kept.append((step, now + Self.lifetime))
    }

    /// The last step of the sign-in with this ID.
    package mutating func step(_ id: String, at now: BootInstant) -> Step? {
        removeOld(now)
        return kept.last { $0.step.login == id }?.step
    }

    private mutating func removeOld(_ now: BootInstant) {
        kept.removeAll { $0.end <= now }
    }
}
