/// Of the `outbox` methods.
public struct OutboxParams: Sendable, Equatable {
    public var session: SessionName?
    /// One entry; `nil`: all of them.
    public var id: String?

    public init(session: SessionName? = nil, id: String? = nil) {
        self.session = session
        self.id = id
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        id = try members.optional("id", .string)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["id"] = id.map(JSON.string)
        return .object(object)
    }
}
