/// An entry of the audit log: a request for a token, a proof, an export, an API call, or a change of the agent.
public struct AuditItem: WireObject {
    /// Consecutive, from 1.
    public var number = 0
    /// Unix seconds.
    public var at: Double = 0
    public var method = ""
    /// The rule that decided.
    public var rule = ""
    /// Whether a denial by the rule was enforced; `nil`: the rule allows the request.
    public var enforced: Bool?
    /// `nil`: the request was answered.
    public var error: ErrorKind?
    /// `true`: the client left before the response.
    public var cancelled: Bool?
    /// How often the client has made this request, until ``lastAt``.
    public var count = 1
    public var lastAt: Double?
    public var session: SessionName?
    public var scopes: String?
    public var audience: String?
    /// The program's own claim.
    public var purpose: String?
    public var endpoint: String?
    /// The method and the template of the path of an API call.
    public var call: String?
    /// `true`: the call has `next`, the address of another page.
    public var next: Bool?
    /// The number of the queued write that the agent sends. The program is the one that queued it.
    public var outbox: String?
    /// Where the client sends the token, as it says, or the origins that the user accepted.
    public var origin: String?
    /// `true`: the request only lists or checks what it could change.
    public var readOnly: Bool?
    /// A keyed hash of the token: the same token has the same one until the agent ends.
    public var token: String?
    public var listener: String?
    public var pid: Int32?
    public var uid: Int?
    /// When the process was started, in Unix seconds.
    public var startedAt: Double?
    public var exe: String?
    /// `true`: another program may be at that path.
    public var exeUncertain: Bool?
    public var unit: String?
    public var slice: String?
    public var label: String?
    public var sandbox: String?
    public var loginSession: String?
    public var terminal: String?

    public init(blank: Blank) {}
    public init(number: Int, at: Double, method: String, rule: String) {
        self.number = number
        self.at = at
        self.method = method
        self.rule = rule
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("number", &number, .count)
        try visitor.required("at", &at, .instant)
        try visitor.required("method", &method, .string)
        try visitor.required("rule", &rule, .string)
        try visitor.optional("enforced", &enforced, .bool)
        try visitor.optional("error", &error, .word)
        try visitor.optional("cancelled", &cancelled, .bool)
        try visitor.written("count", &count, .count)
        try visitor.optional("last_at", &lastAt, .instant)
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("scopes", &scopes, .string)
        try visitor.optional("audience", &audience, .string)
        try visitor.optional("purpose", &purpose, .string)
        try visitor.optional("endpoint", &endpoint, .string)
        try visitor.optional("call", &call, .string)
        try visitor.optional("next", &next, .bool)
        try visitor.optional("outbox", &outbox, .string)
        try visitor.optional("origin", &origin, .string)
        try visitor.optional("read_only", &readOnly, .bool)
        try visitor.optional("token", &token, .string)
        try visitor.optional("listener", &listener, .string)
        try visitor.optional("pid", &pid, .processID)
        try visitor.optional("uid", &uid, .count)
        try visitor.optional("started_at", &startedAt, .instant)
        try visitor.optional("exe", &exe, .string)
        try visitor.optional("exe_uncertain", &exeUncertain, .bool)
        try visitor.optional("unit", &unit, .string)
        try visitor.optional("slice", &slice, .string)
        try visitor.optional("label", &label, .string)
        try visitor.optional("sandbox", &sandbox, .string)
        try visitor.optional("login_session", &loginSession, .string)
        try visitor.optional("terminal", &terminal, .string)
    }
}

/// The result of `audit.list`, oldest first.
public struct AuditList: WireObject {
    public var entries: [AuditItem] = []
    /// When the agent was started, in Unix seconds. Each run has its own numbers.
    public var startedAt: Double = 0
    /// Entries that newer ones have replaced in the agent's memory.
    public var dropped = 0
    /// Lines that are missing from the log: there were too many at once, or the log was too slow.
    public var unlogged = 0

    public init(blank: Blank) {}
    public init(entries: [AuditItem], startedAt: Double, dropped: Int, unlogged: Int) {
        self.entries = entries
        self.startedAt = startedAt
        self.dropped = dropped
        self.unlogged = unlogged
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("entries", &entries, .list())
        try visitor.required("started_at", &startedAt, .instant)
        try visitor.written("dropped", &dropped, .count)
        try visitor.written("unlogged", &unlogged, .count)
    }
}
