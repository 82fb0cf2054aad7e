/// What an event is about.
public enum Topic: String, Sendable, CaseIterable {
    case session, login, network, store, outbox, notice, agent
}

/// Of `events.subscribe` and `events.unsubscribe`.
public struct SubscribeParams: Sendable, Equatable {
    /// `nil`: all of them.
    public var topics: [Topic]?
    /// `nil`: of all sessions.
    public var session: SessionName?

    public init(topics: [Topic]? = nil, session: SessionName? = nil) {
        self.topics = topics
        self.session = session
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        topics = try members.optional("topics", .topics)
        session = try members.optional("session", .sessionName)
    }

    public var json: JSON {
        var object = JSONObject()
        object["topics"] = topics.map { .strings($0.map(\.rawValue)) }
        object["session"] = session.map { .string($0.text) }
        return .object(object)
    }
}
