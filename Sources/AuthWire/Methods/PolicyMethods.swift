public struct PolicyShow: MethodWithoutParams {
    public typealias Result = PolicyInfo
    public static let info = MethodInfo("policy.show", .admin, "Lists the access rules in use.")
    public init() {}
}

public struct PolicyTest: AgentMethod {
    public typealias Result = PolicyVerdict
    public static let info = MethodInfo(
        "policy.test", .admin, "Reports which access rule decides about a request, and why.")

    /// What the request names.
    public var method = ""
    public var session: SessionName?
    public var endpoint: String?
    public var scopes: [String]?
    public var audience: String?
    /// `true`: the request is an `api.call` with `next`.
    public var next: Bool?
    /// Facts about the program. If all of these are absent, the program is the caller. Otherwise an absent fact is unknown,
    /// except that the program is in no sandbox, and has no terminal or login session.
    public var executable: String?
    public var unit: String?
    public var slice: String?
    public var sandbox: String?
    public var label: String?
    public var listener: String?
    public var terminal: Bool?
    public var loginSession: Bool?

    public init(blank: Blank) {}
    public init(method: String, session: SessionName? = nil, endpoint: String? = nil, scopes: [String]? = nil) {
        (self.method, self.session, self.endpoint, self.scopes) = (method, session, endpoint, scopes)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("method", &method, .string)
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("endpoint", &endpoint, .string)
        try visitor.optional("scopes", &scopes, .strings)
        try visitor.optional("audience", &audience, .string)
        try visitor.optional("next", &next, .bool)
        try visitor.optional("executable", &executable, .string)
        try visitor.optional("unit", &unit, .string)
        try visitor.optional("slice", &slice, .string)
        try visitor.optional("sandbox", &sandbox, .string)
        try visitor.optional("label", &label, .string)
        try visitor.optional("listener", &listener, .string)
        try visitor.optional("terminal", &terminal, .bool)
        try visitor.optional("login_session", &loginSession, .bool)
    }
}

public struct PolicyReplay: AgentMethod {
    public typealias Result = PolicyReplayed
    public static let info = MethodInfo(
        "policy.replay", .admin, "Compares rules of the user with the audit log, and lists what would change.")

    /// The rules, as in policy.toml; `nil`: those of the user's file.
    public var text: String?

    public init(blank: Blank) {}
    public init(text: String? = nil) { self.text = text }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("text", &text, .string)
    }
}

public struct PolicyApply: AgentMethod {
    public typealias Result = PolicyChange
    public static let info = MethodInfo(
        "policy.apply", .admin, "Returns the changes of the user's access rules, or applies them.")

    /// The text of the user's file that the user accepts, as the result has it; `nil`: nothing changes.
    public var accepted: String?

    public init(blank: Blank) {}
    public init(accepted: String? = nil) { self.accepted = accepted }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("accepted", &accepted, .string)
    }
}
