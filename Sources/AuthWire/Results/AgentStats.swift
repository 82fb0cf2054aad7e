/// Of `agent.stats`: counted since the agent was started.
public struct AgentStats: Sendable, Equatable {
    public var requests: Int
    /// Open now.
    public var connections: Int
    /// Kept now.
    public var sessions: Int
    public var renewals: Int
    public var uptime: Duration
    /// Whatever else a version counts, by name.
    public var counters: JSONObject

    public init(
        requests: Int, connections: Int, sessions: Int, renewals: Int, uptime: Duration,
        counters: JSONObject = JSONObject()
    ) {
        self.requests = requests
        self.connections = connections
        self.sessions = sessions
        self.renewals = renewals
        self.uptime = uptime
        self.counters = counters
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        requests = try members.required("requests", .integer)
        connections = try members.required("connections", .integer)
        sessions = try members.required("sessions", .integer)
        renewals = try members.required("renewals", .integer)
        uptime = .milliseconds(try members.required("uptime_ms", .integer))
        counters = try members.optional("counters", .object) ?? JSONObject()
    }

    public var json: JSON {
        [
            "requests": .whole(requests), "connections": .whole(connections), "sessions": .whole(sessions),
            "renewals": .whole(renewals), "uptime_ms": .milliseconds(uptime), "counters": .object(counters),
        ]
    }
}
