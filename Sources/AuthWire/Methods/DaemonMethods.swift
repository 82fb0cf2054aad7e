public struct AgentInfoGet: MethodWithoutParams {
    public typealias Result = AgentInfo
    public static let info = MethodInfo("agent.info", .status, "The version, the process and the store of the agent.")
    public init() {}
}

public struct AgentPing: MethodWithoutParams {
    public typealias Result = Pong
    public static let info = MethodInfo("agent.ping", .status, "Answers at once.")
    public init() {}
}

public struct AgentStatsGet: MethodWithoutParams {
    public typealias Result = AgentStats
    public static let info = MethodInfo("agent.stats", .status, "Counters since the start.")
    public init() {}
}

public struct AgentReload: AgentMethod {
    public typealias Result = ReloadResult
    public static let info = MethodInfo("agent.reload", .admin, "Reads the settings and profiles again.")

    /// Only report what a reload would change, or what is wrong.
    public var check = false

    public init(blank: Blank) {}
    public init(check: Bool = false) { self.check = check }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("check", &check, .bool, default: false)
    }
}

public struct AgentRestart: MethodWithoutParams {
    public typealias Result = Pong
    public static let info = MethodInfo(
        "agent.restart", .admin, "Has the service manager restart the agent, which keeps its sessions.")
    public init() {}
}

public struct RPCDiscover: MethodWithoutParams {
    public typealias Result = OpenRPCDocument
    public static let info = MethodInfo("rpc.discover", .status, "Describes all methods, in OpenRPC.")
    public init() {}
}
