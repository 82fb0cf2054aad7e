/// A write that is kept until the provider has answered it.
public struct OutboxItem: Sendable, Equatable {
    public enum State: String, Sendable, CaseIterable {
        case waiting, sending
        /// The provider's answer was a final no; ``error`` has its words.
        case givenUp = "given_up"
    }

    public var id: String
    public var session: SessionName
    public var state: State
    /// The endpoint's name, or method and path.
    public var request: String
    public var idempotencyKey: String
    /// Unix seconds.
    public var queuedAt: Double
    /// Since the agent was started.
    public var tries: Int
    /// Unix seconds; `nil`: when the provider can be reached, or those before it have gone.
    public var retryAt: Double?
    /// Of the last try.
    public var error: AgentError?

    public init(
        id: String, session: SessionName, state: State, request: String, idempotencyKey: String, queuedAt: Double,
        tries: Int = 0, retryAt: Double? = nil, error: AgentError? = nil
    ) {
        self.id = id
        self.session = session
        self.state = state
        self.request = request
        self.idempotencyKey = idempotencyKey
        self.queuedAt = queuedAt
        self.tries = tries
        self.retryAt = retryAt
        self.error = error
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        id = try members.required("id", .string)
        session = try members.required("session", .sessionName)
        state = try members.required("state", .word)
        request = try members.required("request", .string)
        idempotencyKey = try members.required("idempotency_key", .string)
        queuedAt = try members.required("queued_at", .instant)
        tries = try members.optional("tries", .count) ?? 0
        retryAt = try members.optional("retry_at", .instant)
        error = members.object["error"].map { AgentError(json: $0) }
    }

    public var json: JSON {
        var object: JSONObject = [
            "id": .string(id), "session": .string(session.text), "state": .string(state.rawValue),
            "request": .string(request), "idempotency_key": .string(idempotencyKey), "queued_at": .instant(queuedAt),
            "tries": .whole(tries),
        ]
        object["retry_at"] = retryAt.map(JSON.instant)
        object["error"] = error?.json
        return .object(object)
    }
}

/// Of the `outbox` methods: in the order in which they are sent; of `outbox.drop` those that were dropped.
public struct OutboxList: Sendable, Equatable {
    public var entries: [OutboxItem]

    public init(entries: [OutboxItem]) {
        self.entries = entries
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        entries = try members.list("entries", OutboxItem.init) ?? []
    }

    public var json: JSON { ["entries": .array(entries.map(\.json))] }
}
