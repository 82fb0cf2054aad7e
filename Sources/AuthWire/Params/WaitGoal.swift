/// What `session.wait` waits for.
public enum WaitGoal: String, Sendable, CaseIterable {
    case active
    /// The network is there and the session is active.
    case online
    case signedOut = "signed_out"
}
