/// Of `user.get` and `user.update`.
public struct UserResult: Sendable, Equatable, HoldsSecrets {
    public var user: UserSummary
    /// The backend's own user, as received.
    public var raw: JSON
    /// Unix seconds.
    public var fetchedAt: Double?
    /// Since then, in milliseconds; for a client whose clock is another one.
    public var ageMs: Int?

    public init(user: UserSummary, raw: JSON, fetchedAt: Double? = nil, ageMs: Int? = nil) {
        self.user = user
        self.raw = raw
        self.fetchedAt = fetchedAt
        self.ageMs = ageMs
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        user = try UserSummary(try members.required("user", .any))
        raw = members.object["raw"] ?? .null
        fetchedAt = try members.optional("fetched_at", .instant)
        ageMs = try members.optional("age_ms", .integer)
    }

    public var json: JSON {
        var object: JSONObject = ["user": user.json, "raw": raw]
        object["fetched_at"] = fetchedAt.map(JSON.instant)
        object["age_ms"] = ageMs.map { .whole($0) }
        return .object(object)
    }
}
