/// Of `user.get`.
public struct UserGetParams: Sendable, Equatable {
    public var session: SessionName?
    /// Asks the provider even when the user is known already.
    public var fresh: Bool

    public init(session: SessionName? = nil, fresh: Bool = false) {
        self.session = session
        self.fresh = fresh
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        fresh = try members.optional("fresh", .bool) ?? false
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        if fresh { object["fresh"] = true }
        return .object(object)
    }
}

/// Of `user.update`.
public struct UserUpdateParams: Sendable, Equatable, HoldsSecrets {
    public var session: SessionName?
    /// As the provider names them.
    public var fields: JSONObject

    public init(session: SessionName? = nil, fields: JSONObject) {
        self.session = session
        self.fields = fields
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        fields = try members.required("fields", .object)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["fields"] = .object(fields)
        return .object(object)
    }
}
