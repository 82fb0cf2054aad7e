public struct UserGet: AgentMethod {
    public typealias Result = UserResult
    public static let info = MethodInfo("user.get", .act, "The provider's user.")

    public var session: SessionName?
    /// Asks the provider even if the user is known already.
    public var fresh = false

    public init(blank: Blank) {}
    public init(session: SessionName? = nil, fresh: Bool = false) {
        self.session = session
        self.fresh = fresh
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("fresh", &fresh, .bool, default: false)
    }
}

public struct UserUpdate: AgentMethod, HoldsSecrets {
    public typealias Result = UserResult
    public static let info = MethodInfo("user.update", .account, "Changes the user.", secrecy: .guarded)

    public var session: SessionName?
    /// As the provider names them.
    public var fields = JSONObject()

    public init(blank: Blank) {}
    public init(session: SessionName? = nil, fields: JSONObject) {
        self.session = session
        self.fields = fields
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.required("fields", &fields, .object)
    }
}
