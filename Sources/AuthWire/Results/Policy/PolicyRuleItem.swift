/// An access rule, as `policy.show` lists it. What a rule does not test is absent.
public struct PolicyRuleItem: WireObject {
    /// With its source: `root.NAME`, `user.NAME` or `default.NAME`.
    public var rule = ""
    /// `allow` or `deny`.
    public var effect = ""
    public var reason: String?
    public var executables: [String]?
    public var units: [String]?
    public var slices: [String]?
    public var sandboxes: [String]?
    public var labels: [String]?
    public var listeners: [String]?
    /// Whether the program must have a terminal.
    public var terminal: Bool?
    /// Whether the program must belong to a login session.
    public var loginSession: Bool?
    /// Whether the program must belong to the agent's user.
    public var ownUser: Bool?
    public var sessions: [String]?
    public var classes: [String]?
    public var methods: [String]?
    public var endpoints: [String]?
    public var scopes: [String]?

    public init(blank: Blank) {}
    public init(rule: String, effect: String, reason: String? = nil) {
        (self.rule, self.effect, self.reason) = (rule, effect, reason)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("rule", &rule, .string)
        try visitor.required("effect", &effect, .string)
        try visitor.optional("reason", &reason, .string)
        try visitor.optional("executables", &executables, .strings)
        try visitor.optional("units", &units, .strings)
        try visitor.optional("slices", &slices, .strings)
        try visitor.optional("sandboxes", &sandboxes, .strings)
        try visitor.optional("labels", &labels, .strings)
        try visitor.optional("listeners", &listeners, .strings)
        try visitor.optional("terminal", &terminal, .bool)
        try visitor.optional("login_session", &loginSession, .bool)
        try visitor.optional("own_user", &ownUser, .bool)
        try visitor.optional("sessions", &sessions, .strings)
        try visitor.optional("classes", &classes, .strings)
        try visitor.optional("methods", &methods, .strings)
        try visitor.optional("endpoints", &endpoints, .strings)
        try visitor.optional("scopes", &scopes, .strings)
    }
}
