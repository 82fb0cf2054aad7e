package import AuthModel

/// Decides when an agent whose program was replaced restarts without a request.
///
/// Invariant: a restart is decided only for a file that two looks in a row have found, without an obstacle, and not
/// again before ``retryPause`` is over. So a package manager can complete what it does, and nothing restarts the agent
/// in a loop.
package struct UpgradePlan: Sendable {
    package enum Decision: Sendable, Equatable {
        case nothing
        /// Decided once for each file; it restarts when the obstacle is gone.
        case wait(RestartObstacle)
        case restart
    }

    /// Libraries may still be installed, and settings corrected.
    package static let retryPause = Duration.seconds(600)

    private var found: ProgramFile.Identity?
    private var isReported = false
    private var notBefore: BootInstant?

    package init() {}

    /// - Parameter replacement: of the running program.
    package mutating func looked(
        at replacement: ProgramFile.Identity?, obstacle: RestartObstacle?, now: BootInstant
    ) -> Decision {
        guard let replacement, replacement == found else {
            self = UpgradePlan()
            found = replacement
            return .nothing
        }
        if let notBefore, now < notBefore { return .nothing }
        if let obstacle {
            defer { isReported = true }
            return isReported ? .nothing : .wait(obstacle)
        }
        isReported = true
        notBefore = now + Self.retryPause
        return .restart
    }

    /// Something was begun before the restart: the next look decides again.
    package mutating func interrupted() { notBefore = nil }
}
