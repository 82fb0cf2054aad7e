/// Of `session.trust`.
public struct TrustParams: Sendable, Equatable {
    public var session: SessionName?
    /// What the user has agreed to, as the result without it names them; `nil`: nothing is changed.
    public var origins: [String]?

    public init(session: SessionName? = nil, origins: [String]? = nil) {
        self.session = session
        self.origins = origins
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        origins = try members.optional("origins", .strings)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["origins"] = origins.map(JSON.strings)
        return .object(object)
    }
}
