/// The result of `policy.test`: which rule decides about a request, and why.
public struct PolicyVerdict: WireObject {
    /// Whether the rule allows the request.
    public var allowed = false
    /// Whether a request that the rule denies is refused.
    public var enforced = false
    /// The rule that decides.
    public var rule = ""
    public var reason: String?
    /// A key that the rule tests and that is unknown for the program, so that the rule denies.
    public var unknown: String?
    /// What the user does before the request is carried out: `presence` or `consent`.
    public var check: String?
    /// Each rule that was compared, in order.
    public var steps: [PolicyStep] = []

    public init(blank: Blank) {}
    public init(
        allowed: Bool, enforced: Bool, rule: String, reason: String?, unknown: String? = nil, check: String? = nil,
        steps: [PolicyStep] = []
    ) {
        (self.allowed, self.enforced, self.rule) = (allowed, enforced, rule)
        (self.reason, self.unknown, self.check, self.steps) = (reason, unknown, check, steps)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("allowed", &allowed, .bool)
        try visitor.written("enforced", &enforced, .bool)
        try visitor.required("rule", &rule, .string)
        try visitor.optional("reason", &reason, .string)
        try visitor.optional("unknown", &unknown, .string)
        try visitor.optional("check", &check, .string)
        try visitor.written("steps", &steps, .list())
    }
}

/// One rule that was compared with a request.
public struct PolicyStep: WireObject {
    public var rule = ""
    /// `match`, `no_match` or `unknown`.
    public var outcome = ""
    /// The first key that does not match, or is not known.
    public var key: String?
    /// The method as which the rule was compared with the request, if that is another one: a call with `next` is also decided
    /// about as `api.request`.
    public var method: String?

    public init(blank: Blank) {}
    public init(rule: String, outcome: String, key: String?, method: String? = nil) {
        (self.rule, self.outcome, self.key, self.method) = (rule, outcome, key, method)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("rule", &rule, .string)
        try visitor.required("outcome", &outcome, .string)
        try visitor.optional("key", &key, .string)
        try visitor.optional("method", &method, .string)
    }
}

/// The result of `policy.replay`.
public struct PolicyReplayed: WireObject {
    /// How many entries of the audit log were compared.
    public var entries = 0
    /// The entries whose result is different with the new rules, oldest first.
    public var changes: [PolicyDifference] = []

    public init(blank: Blank) {}
    public init(entries: Int, changes: [PolicyDifference]) {
        (self.entries, self.changes) = (entries, changes)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("entries", &entries, .count)
        try visitor.written("changes", &changes, .list())
    }
}

/// A recorded request that the new rules treat differently. A result is `allowed`, `would_be_denied` or `denied`.
public struct PolicyDifference: WireObject {
    /// The number of the entry.
    public var number = 0
    public var at: Double = 0
    public var count = 1
    public var method = ""
    public var session: SessionName?
    public var exe: String?
    public var unit: String?
    public var formerRule = ""
    public var formerResult = ""
    public var rule = ""
    public var result = ""

    public init(blank: Blank) {}
    public init(
        _ item: AuditItem, formerRule: String, formerResult: String, rule: String, result: String
    ) {
        (number, at, count, method) = (item.number, item.at, item.count, item.method)
        (session, exe, unit) = (item.session, item.exe, item.unit)
        (self.formerRule, self.formerResult, self.rule, self.result) = (formerRule, formerResult, rule, result)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("number", &number, .count)
        try visitor.required("at", &at, .instant)
        try visitor.written("count", &count, .count)
        try visitor.required("method", &method, .string)
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("exe", &exe, .string)
        try visitor.optional("unit", &unit, .string)
        try visitor.required("former_rule", &formerRule, .string)
        try visitor.required("former_result", &formerResult, .string)
        try visitor.required("rule", &rule, .string)
        try visitor.required("result", &result, .string)
    }
}
