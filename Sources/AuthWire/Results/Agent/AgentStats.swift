/// The result of `agent.stats`: counters since the start.
public struct AgentStats: WireObject {
    public var requests = 0
    /// Open now.
    public var connections = 0
    /// Kept now.
    public var sessions = 0
    public var renewals = 0
    public var uptime = Duration.zero
    /// By provider.
    public var tokenRequests: [TokenRequestCounts] = []
    /// Whatever else a version counts, by name.
    public var counters = JSONObject()

    public init(blank: Blank) {}
    public init(
        requests: Int, connections: Int, sessions: Int, renewals: Int, uptime: Duration,
        tokenRequests: [TokenRequestCounts] = [], counters: JSONObject = JSONObject()
    ) {
        self.requests = requests
        self.connections = connections
        self.sessions = sessions
        self.renewals = renewals
        self.uptime = uptime
        self.tokenRequests = tokenRequests
        self.counters = counters
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("requests", &requests, .integer)
        try visitor.required("connections", &connections, .integer)
        try visitor.required("sessions", &sessions, .integer)
        try visitor.required("renewals", &renewals, .integer)
        try visitor.required("uptime_ms", &uptime, .length)
        try visitor.written("token_requests", &tokenRequests, .list())
        try visitor.written("counters", &counters, .object)
    }
}
