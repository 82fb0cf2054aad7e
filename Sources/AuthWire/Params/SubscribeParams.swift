/// What an event is about.
public enum Topic: String, Sendable, CaseIterable {
    case session, login, network, store, outbox, notice, agent
}

/// The params of `events.subscribe` and `events.unsubscribe`.
public struct SubscribeParams: WireObject {
    /// `nil`: all of them.
    public var topics: [Topic]?
    /// `nil`: of all sessions.
    public var session: SessionName?

    public init(blank: Blank) {}
    public init(topics: [Topic]? = nil, session: SessionName? = nil) {
        self.topics = topics
        self.session = session
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("topics", &topics, .topics)
        try visitor.optional("session", &session, .sessionName)
    }
}
