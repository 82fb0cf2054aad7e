public struct SessionListGet: MethodWithoutParams {
    public typealias Result = SessionList
    public static let info = MethodInfo("session.list", .status, "Lists the sessions.")
    public init() {}
}

public struct SessionStatusGet: MethodWithParams {
    public typealias Result = SessionStatus
    public static let info = MethodInfo("session.status", .status, "The status of a session.")
    public var params: SessionParams
    public init(_ params: SessionParams) { self.params = params }
}

public struct SessionUse: AgentMethod {
    public typealias Result = SessionStatus
    public static let info = MethodInfo("session.use", .account, "Makes a session the default.")

    public var session = SessionName.blank

    public init(blank: Blank) {}
    public init(session: SessionName) { self.session = session }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("session", &session, .sessionName)
    }
}

public struct SessionRefresh: MethodWithParams {
    public typealias Result = SessionStatus
    public static let info = MethodInfo("session.refresh", .token, "Renews the token of a session now.")
    public var params: SessionParams
    public init(_ params: SessionParams) { self.params = params }
}

public struct SessionValidate: AgentMethod {
    public typealias Result = SessionStatus
    public static let info = MethodInfo("session.validate", .token, "Asks the provider whether a session is valid.")

    public var session: SessionName?
    /// Includes the wait for a network. `nil`: as long as the agent lets a request wait.
    public var timeout: Duration?

    public init(blank: Blank) {}
    public init(session: SessionName? = nil, timeout: Duration? = nil) {
        self.session = session
        self.timeout = timeout
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("timeout_ms", &timeout, .milliseconds)
    }
}

public struct SessionLogout: AgentMethod {
    public typealias Result = SessionStatus
    public static let info = MethodInfo("session.logout", .account, "Signs out.", isStrict: true)

    public var session: SessionName?
    /// Whether the tokens are revoked at the provider, if it supports that. True if absent.
    public var revoke = true

    public init(blank: Blank) {}
    public init(session: SessionName? = nil, revoke: Bool = true) {
        self.session = session
        self.revoke = revoke
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.written("revoke", &revoke, .bool)
    }
}

public struct SessionWait: AgentMethod {
    public typealias Result = SessionStatus
    public static let info = MethodInfo("session.wait", .status, "Waits until a session has a state.")

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
