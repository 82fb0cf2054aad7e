/// `session.list`.
public struct SessionListGet: MethodWithoutParams {
    public typealias Result = SessionList
    public static let name = "session.list"
    public static let summary = "Lists the sessions."
    public static let access = AccessClass.status

    public init() {}
}

/// `session.status`.
public struct SessionStatusGet: MethodWithParams {
    public typealias Result = SessionStatus
    public static let name = "session.status"
    public static let summary = "The status of a session."
    public static let access = AccessClass.status

    public var params: SessionParams
    public init(_ params: SessionParams) { self.params = params }
}

/// `session.use`.
public struct SessionUse: AgentMethod {
    public typealias Result = SessionStatus
    public static let name = "session.use"
    public static let summary = "Makes a session the default."
    public static let access = AccessClass.account

    public var session = SessionName.blank

    public init(blank: Blank) {}
    public init(session: SessionName) { self.session = session }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("session", &session, .sessionName)
    }
}

/// `session.refresh`.
public struct SessionRefresh: MethodWithParams {
    public typealias Result = SessionStatus
    public static let name = "session.refresh"
    public static let summary = "Renews the token of a session now."
    public static let access = AccessClass.token

    public var params: SessionParams
    public init(_ params: SessionParams) { self.params = params }
}

/// `session.validate`.
public struct SessionValidate: MethodWithParams {
    public typealias Result = SessionStatus
    public static let name = "session.validate"
    public static let summary = "Asks the provider whether a session is valid."
    public static let access = AccessClass.token

    public var params: SessionParams
    public init(_ params: SessionParams) { self.params = params }
}

/// `session.logout`.
public struct SessionLogout: AgentMethod {
    public typealias Result = SessionStatus
    public static let name = "session.logout"
    public static let summary = "Signs out."
    public static let access = AccessClass.account
    public static let isStrict = true

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

/// `session.wait`.
public struct SessionWait: AgentMethod {
    public typealias Result = SessionStatus
    public static let name = "session.wait"
    public static let summary = "Waits until a session has a state."
    public static let access = AccessClass.status

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
