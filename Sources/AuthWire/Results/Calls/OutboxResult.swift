/// A write that is queued until the provider has answered it.
public struct OutboxItem: WireObject {
    public enum State: String, Sendable, CaseIterable {
        case waiting, sending
        /// The provider gave a final refusal; ``error`` has its message.
        case givenUp = "given_up"
    }

    public var id = ""
    public var session = SessionName.blank
    public var state = State.waiting
    /// The endpoint's name, or method and path.
    public var request = ""
    public var idempotencyKey = ""
    /// Unix seconds.
    public var queuedAt: Double = 0
    /// Since the agent was started.
    public var tries = 0
    /// Unix seconds; `nil`: when the provider can be reached and the entries before it are sent.
    public var retryAt: Double?
    /// What it waits for besides the entries before it: ``unmeteredNetwork``; `nil` if the agent knows of nothing.
    public var waitsFor: String?
    /// The error of the last try.
    public var error: AgentError?

    /// A value of ``waitsFor``.
    public static let unmeteredNetwork = "unmetered_network"

    public init(blank: Blank) {}
    public init(
        id: String, session: SessionName, state: State, request: String, idempotencyKey: String, queuedAt: Double,
        tries: Int = 0, retryAt: Double? = nil, waitsFor: String? = nil, error: AgentError? = nil
    ) {
        self.id = id
        self.session = session
        self.state = state
        self.request = request
        self.idempotencyKey = idempotencyKey
        self.queuedAt = queuedAt
        self.tries = tries
        self.retryAt = retryAt
        self.waitsFor = waitsFor
        self.error = error
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("id", &id, .string)
        try visitor.required("session", &session, .sessionName)
        try visitor.required("state", &state, .word)
        try visitor.required("request", &request, .string)
        try visitor.required("idempotency_key", &idempotencyKey, .string)
        try visitor.required("queued_at", &queuedAt, .instant)
        try visitor.written("tries", &tries, .count)
        try visitor.optional("retry_at", &retryAt, .instant)
        try visitor.optional("waits_for", &waitsFor, .string)
        try visitor.optional("error", &error, .error)
    }
}

/// The result of the `outbox` methods, in the order of sending; for `outbox.drop` the entries that were dropped.
public struct OutboxList: WireObject {
    public var entries: [OutboxItem] = []

    public init(blank: Blank) {}
    public init(entries: [OutboxItem]) { self.entries = entries }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("entries", &entries, .list())
    }
}
