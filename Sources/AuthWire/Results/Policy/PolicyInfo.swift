/// The result of `policy.show`: the access rules in use, in the order in which they are compared.
public struct PolicyInfo: WireObject {
    /// Whether requests that a rule denies are refused. Otherwise the audit log has what would have been refused.
    public var enforced = false
    public var rules: [PolicyRuleItem] = []
    /// Root's file.
    public var rootFile = ""
    /// The user's file; `nil`: the environment has no home.
    public var userFile: String?
    /// The user's file differs from the rules that were applied.
    public var unapplied = false
    /// Why a file is not used.
    public var problems: [String] = []

    public init(blank: Blank) {}
    public init(
        enforced: Bool, rules: [PolicyRuleItem], rootFile: String, userFile: String?, unapplied: Bool,
        problems: [String]
    ) {
        (self.enforced, self.rules, self.rootFile) = (enforced, rules, rootFile)
        (self.userFile, self.unapplied, self.problems) = (userFile, unapplied, problems)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("enforced", &enforced, .bool)
        try visitor.written("rules", &rules, .list())
        try visitor.required("root_file", &rootFile, .string)
        try visitor.optional("user_file", &userFile, .string)
        try visitor.written("unapplied", &unapplied, .bool)
        try visitor.written("problems", &problems, .strings)
    }
}

/// The result of `policy.apply`.
public struct PolicyChange: WireObject {
    /// The text of the user's rules that were applied before.
    public var former = ""
    /// The text of the user's file.
    public var text = ""
    /// The rules of ``text`` are in use now.
    public var applied = false
    /// Whether these rules would keep this caller from applying another change, or from unlocking the agent.
    public var locksOut = false
    /// The rules that were applied before could not be read, so most methods are refused.
    public var isBroken = false

    public init(blank: Blank) {}
    public init(former: String, text: String, applied: Bool, locksOut: Bool, isBroken: Bool = false) {
        (self.former, self.text, self.applied, self.locksOut) = (former, text, applied, locksOut)
        self.isBroken = isBroken
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("former", &former, .string)
        try visitor.written("text", &text, .string)
        try visitor.written("applied", &applied, .bool)
        try visitor.optional("locks_out", &locksOut, .bool, default: false)
        try visitor.optional("broken", &isBroken, .bool, default: false)
    }
}
