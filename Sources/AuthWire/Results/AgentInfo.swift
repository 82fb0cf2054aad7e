/// Of `agent.info`.
public struct AgentInfo: Sendable, Equatable {
    public var version: String
    /// Grows when something that clients rely on changes; `protocol` on the wire.
    public var protocolVersion: Int
    public var pid: Int32
    /// Unix seconds.
    public var startedAt: Double
    public var store: StoreInfo
    public var features: [String]

    public init(
        version: String, protocolVersion: Int, pid: Int32, startedAt: Double, store: StoreInfo, features: [String] = []
    ) {
        self.version = version
        self.protocolVersion = protocolVersion
        self.pid = pid
        self.startedAt = startedAt
        self.store = store
        self.features = features
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        version = try members.required("version", .string)
        protocolVersion = try members.required("protocol", .integer)
        pid = try members.required("pid", .processID)
        startedAt = try members.required("started_at", .instant)
        store = try StoreInfo(try members.required("store", .any))
        features = try members.optional("features", .strings) ?? []
    }

    public var json: JSON {
        [
            "version": .string(version), "protocol": .whole(protocolVersion), "pid": .whole(pid),
            "started_at": .instant(startedAt), "store": store.json, "features": .strings(features),
        ]
    }
}

/// Of `agent.ping`.
public struct Pong: Sendable, Equatable {
    public var pid: Int32

    public init(pid: Int32) {
        self.pid = pid
    }

    public init(_ json: JSON) throws(AgentError) {
        pid = try Members(result: json).required("pid", .processID)
    }

    public var json: JSON { ["pid": .whole(pid)] }
}

extension Wanted where Value == Int32 {
    static let processID = Wanted("a process id") { $0.integerValue.flatMap { Int32(exactly: $0) } }
}
