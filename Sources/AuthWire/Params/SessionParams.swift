/// Names a session; `nil` is the default one.
public struct SessionParams: Sendable, Equatable {
    public var session: SessionName?

    public init(session: SessionName? = nil) {
        self.session = session
    }

    public init(_ object: JSONObject) throws(AgentError) {
        session = try Members(object, in: .params).optional("session", .sessionName)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        return .object(object)
    }
}
