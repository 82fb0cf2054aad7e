public struct AuditListGet: AgentMethod {
    public typealias Result = AuditList
    public static let info = MethodInfo(
        "audit.list", .admin, "Lists who got tokens and proofs, called APIs, exported sessions or changed the agent.")

    /// Only entries with a higher number, from the oldest; `nil`: the newest ones.
    public var after: Int?
    /// How many at most; `nil`: 100.
    public var limit: Int?

    public init(blank: Blank) {}
    public init(after: Int? = nil, limit: Int? = nil) {
        self.after = after
        self.limit = limit
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("after", &after, .count)
        try visitor.optional("limit", &limit, .count)
    }
}
