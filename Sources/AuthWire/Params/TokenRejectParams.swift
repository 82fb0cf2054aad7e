/// Of `token.reject`: "this one got a 401".
public struct TokenRejectParams: Sendable, Equatable, HoldsSecrets {
    public var session: SessionName?
    /// Secret.
    public var accessToken: String

    public init(session: SessionName? = nil, accessToken: String) {
        self.session = session
        self.accessToken = accessToken
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        accessToken = try members.required("access_token", .string)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["access_token"] = .string(accessToken)
        return .object(object)
    }
}
