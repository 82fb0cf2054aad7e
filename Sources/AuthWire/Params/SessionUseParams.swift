/// Names the session that becomes the default one.
public struct SessionUseParams: Sendable, Equatable {
    public var session: SessionName

    public init(session: SessionName) {
        self.session = session
    }

    public init(_ object: JSONObject) throws(AgentError) {
        session = try Members(object, in: .params).required("session", .sessionName)
    }

    public var json: JSON { ["session": .string(session.text)] }
}
