/// The result of `user.get` and `user.update`.
public struct UserResult: WireObject, HoldsSecrets {
    public var user = UserSummary(blank: Blank())
    /// The backend's user, as received.
    public var raw = JSON.null
    /// Unix seconds.
    public var fetchedAt: Double?
    /// The time since then in milliseconds, for a client with another clock.
    public var ageMs: Int?

    public init(blank: Blank) {}
    public init(user: UserSummary, raw: JSON, fetchedAt: Double? = nil, ageMs: Int? = nil) {
        self.user = user
        self.raw = raw
        self.fetchedAt = fetchedAt
        self.ageMs = ageMs
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("user", &user, .object)
        try visitor.written("raw", &raw, .any)
        try visitor.optional("fetched_at", &fetchedAt, .instant)
        try visitor.optional("age_ms", &ageMs, .integer)
    }
}
