package import AuthWire

/// The subscriptions of one connection: topics, by session.
///
/// Invariant: no set of topics is empty, and there are at most `limit` of them.
package struct Subscriptions {
    /// The key `nil` stands for all sessions.
    private var topics: [SessionName?: Set<Topic>] = [:]
    private let limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    package var isEmpty: Bool { topics.isEmpty }

    /// - Throws: `busy` if the connection follows too many sessions by name.
    package mutating func add(_ params: SubscribeParams) throws(AgentError) {
        guard topics[params.session] != nil || topics.count < limit else {
            throw AgentError(
                .busy, "A connection may follow at most \(limit) sessions by name; omit the session to follow all.")
        }
        let requested = Set(params.topics ?? Topic.allCases)
        if !requested.isEmpty { topics[params.session, default: []].formUnion(requested) }
    }

    /// Without topics and session: all subscriptions.
    package mutating func remove(_ params: SubscribeParams) {
        if params.topics == nil, params.session == nil { return topics = [:] }
        guard var left = topics[params.session] else { return }
        left.subtract(params.topics ?? Topic.allCases)
        topics[params.session] = left.isEmpty ? nil : left
    }

    /// An event without a session matches every subscription to its topic.
    package func matches(_ event: AgentEvent) -> Bool {
        guard let session = event.session else { return topics.values.contains { $0.contains(event.topic) } }
        return topics[nil]?.contains(event.topic) ?? false || topics[session]?.contains(event.topic) ?? false
    }
}
