/// What `session.wait` waits for.
public enum WaitGoal: String, Sendable, CaseIterable {
    case active
    /// The network is there and the session is active.
    case online
    case signedOut = "signed_out"
}

/// Of `session.wait`.
public struct SessionWaitParams: WireObject {
    public var session: SessionName?
    public var until = WaitGoal.active
    /// `nil`: as long as the agent lets a request wait.
    public var timeout: Duration?

    public init(blank: Blank) {}

    public init(session: SessionName? = nil, until: WaitGoal, timeout: Duration? = nil) {
        self.session = session
        self.until = until
        self.timeout = timeout
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.required("until", &until, .word)
        try visitor.optional("timeout_ms", &timeout, .milliseconds)
    }
}
