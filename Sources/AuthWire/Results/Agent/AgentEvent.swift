/// An event. Subscribers receive it as a JSON-RPC notification named ``method``.
public struct AgentEvent: WireObject {
    /// The name of the notification.
    public static let method = "event"
    /// The name of the first event after a subscription: the state of everything, in ``snapshot``.
    public static let snapshotName = "snapshot"

    public var topic = Topic.agent
    /// What happened; `event` on the wire.
    public var name = ""
    /// Unix seconds.
    public var at: Double = 0
    public var session: SessionName?
    public var status: SessionStatus?
    public var network: NetworkStatus?
    public var store: StoreInfo?
    public var notice: NoticeInfo?
    public var outbox: OutboxItem?
    /// The agent was locked or unlocked.
    public var lock: LockStatus?
    /// `sessions`, `network` and `store`; `lock` if the agent is locked.
    public var snapshot: JSON?

    public init(blank: Blank) {}
    public init(
        topic: Topic, name: String, at: Double, session: SessionName? = nil, status: SessionStatus? = nil,
        network: NetworkStatus? = nil, store: StoreInfo? = nil, notice: NoticeInfo? = nil,
        outbox: OutboxItem? = nil, lock: LockStatus? = nil, snapshot: JSON? = nil
    ) {
        self.topic = topic
        self.name = name
        self.at = at
        self.session = session
        self.status = status
        self.network = network
        self.store = store
        self.notice = notice
        self.outbox = outbox
        self.lock = lock
        self.snapshot = snapshot
    }

    /// The event with the state of everything.
    public init(
        snapshot sessions: [SessionStatus], network: NetworkStatus, store: StoreInfo, lock: LockStatus? = nil,
        at: Double
    ) {
        var snapshot: JSONObject = [
            "sessions": .array(sessions.map(\.json)), "network": network.json, "store": store.json,
        ]
        snapshot["lock"] = lock?.json
        self.init(topic: .agent, name: Self.snapshotName, at: at, snapshot: .object(snapshot))
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("topic", &topic, .word)
        try visitor.required("event", &name, .string)
        try visitor.required("at", &at, .instant)
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("status", &status, .object)
        try visitor.optional("network", &network, .object)
        try visitor.optional("store", &store, .object)
        try visitor.optional("notice", &notice, .object)
        try visitor.optional("outbox", &outbox, .object)
        try visitor.optional("lock", &lock, .object)
        try visitor.optional("snapshot", &snapshot, .any)
    }
}
