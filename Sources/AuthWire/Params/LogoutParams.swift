/// Of `session.logout`.
public struct LogoutParams: Sendable, Equatable {
    public var session: SessionName?
    /// Whether the provider is told too, where it can be; on the wire true unless it says otherwise.
    public var revoke: Bool

    public init(session: SessionName? = nil, revoke: Bool = true) {
        self.session = session
        self.revoke = revoke
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        revoke = try members.optional("revoke", .bool) ?? true
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["revoke"] = .bool(revoke)
        return .object(object)
    }
}
