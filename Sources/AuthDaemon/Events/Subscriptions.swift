package import AuthWire

/// What one connection wants to be told of: topics, by session.
///
/// Invariant: no set of topics is empty, and there are at most `limit` of them.
package struct Subscriptions {
    /// The key `nil` is every session.
    private var topics: [SessionName?: Set<Topic>] = [:]
    private let limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    package var isEmpty: Bool { topics.isEmpty }

    /// - Throws: `busy` when one connection follows too many sessions one by one.
    package mutating func add(_ params: SubscribeParams) throws(AgentError) {
        guard topics[params.session] != nil || topics.count < limit else {
            throw AgentError(
                .busy, "A connection may follow at most \(limit) sessions by name; omit the session to follow all.")
        }
        let requested = Set(params.topics ?? Topic.allCases)
        if !requested.isEmpty { topics[params.session, default: []].formUnion(requested) }
    }

    /// Without topics and session: all of them.
    package mutating func remove(_ params: SubscribeParams) {
        if params.topics == nil, params.session == nil { return topics = [:] }
        guard var left = topics[params.session] else { return }
        left.subtract(params.topics ?? Topic.allCases)
        topics[params.session] = left.isEmpty ? nil : left
    }

    /// An event of no session goes to all who follow its topic.
    package func wants(_ event: AgentEvent) -> Bool {
        guard let session = event.session else { return topics.values.contains { $0.contains(event.topic) } }
        return topics[nil]?.contains(event.topic) ?? false || topics[session]?.contains(event.topic) ?? false
    }
}
