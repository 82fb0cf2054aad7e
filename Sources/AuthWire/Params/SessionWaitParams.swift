/// What `session.wait` waits for.
public enum WaitGoal: String, Sendable, CaseIterable {
    case active
    /// The network is there and the session is active.
    case online
    case signedOut = "signed_out"
}

/// Of `session.wait`.
public struct SessionWaitParams: Sendable, Equatable {
    public var session: SessionName?
    public var until: WaitGoal
    /// `nil`: as long as the agent lets a request wait.
    public var timeout: Duration?

    public init(session: SessionName? = nil, until: WaitGoal, timeout: Duration? = nil) {
        self.session = session
        self.until = until
        self.timeout = timeout
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        until = try members.required("until", .word)
        timeout = try members.optional("timeout_ms", .milliseconds)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["until"] = .string(until.rawValue)
        object["timeout_ms"] = timeout.map(JSON.milliseconds)
        return .object(object)
    }
}
