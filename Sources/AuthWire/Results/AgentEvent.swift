/// A change, told to subscribers as a JSON-RPC notification named ``method``.
public struct AgentEvent: Sendable, Equatable {
    /// Of the notification.
    public static let method = "event"
    /// The name of the first event after a subscription: all there is to know, in ``snapshot``.
    public static let snapshotName = "snapshot"

    public var topic: Topic
    /// What happened; `event` on the wire.
    public var name: String
    /// Unix seconds.
    public var at: Double
    public var session: SessionName?
    public var status: SessionStatus?
    public var network: NetworkStatus?
    public var store: StoreInfo?
    public var notice: NoticeInfo?
    public var outbox: OutboxItem?
    /// `sessions`, `network` and `store`.
    public var snapshot: JSON?

    public init(
        topic: Topic, name: String, at: Double, session: SessionName? = nil, status: SessionStatus? = nil,
        network: NetworkStatus? = nil, store: StoreInfo? = nil, notice: NoticeInfo? = nil,
        outbox: OutboxItem? = nil, snapshot: JSON? = nil
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
        self.snapshot = snapshot
    }

    /// The event that tells all there is to know.
    public init(snapshot sessions: [SessionStatus], network: NetworkStatus, store: StoreInfo, at: Double) {
        self.init(
            topic: .agent, name: Self.snapshotName, at: at,
            snapshot: [
                "sessions": .array(sessions.map(\.json)), "network": network.json, "store": store.json,
            ])
    }

    /// - Parameter json: the params of the notification.
    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        topic = try members.required("topic", .word)
        name = try members.required("event", .string)
        at = try members.required("at", .instant)
        session = try members.optional("session", .sessionName)
        status = try members.nested("status", SessionStatus.init)
        network = try members.nested("network", NetworkStatus.init)
        store = try members.nested("store", StoreInfo.init)
        notice = try members.nested("notice", NoticeInfo.init)
        outbox = try members.nested("outbox", OutboxItem.init)
        snapshot = try members.optional("snapshot", .any)
    }

    public var json: JSON {
        var object: JSONObject = ["topic": .string(topic.rawValue), "event": .string(name), "at": .instant(at)]
        object["session"] = session.map { .string($0.text) }
        object["status"] = status?.json
        object["network"] = network?.json
        object["store"] = store?.json
        object["notice"] = notice?.json
        object["outbox"] = outbox?.json
        object["snapshot"] = snapshot
        return .object(object)
    }
}
