/// `agent.info`.
public struct AgentInfoGet: MethodWithoutParams {
    public typealias Result = AgentInfo
    public static let name = "agent.info"
    public static let summary = "The version, the process and the store of the agent."
    public static let access = AccessClass.status

    public init() {}
}

/// `agent.ping`.
public struct AgentPing: MethodWithoutParams {
    public typealias Result = Pong
    public static let name = "agent.ping"
    public static let summary = "Answers at once."
    public static let access = AccessClass.status

    public init() {}
}

/// `agent.stats`.
public struct AgentStatsGet: MethodWithoutParams {
    public typealias Result = AgentStats
    public static let name = "agent.stats"
    public static let summary = "Counters since the start."
    public static let access = AccessClass.status

    public init() {}
}

/// `agent.reload`.
public struct AgentReload: AgentMethod {
    public typealias Result = MessageResult
    public static let name = "agent.reload"
    public static let summary = "Reads the settings and profiles again."
    public static let access = AccessClass.admin

    /// Only report what a reload would change, or what is wrong.
    public var check = false

    public init(blank: Blank) {}
    public init(check: Bool = false) { self.check = check }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("check", &check, .bool, default: false)
    }
}

/// `agent.lock`.
public struct AgentLock: MethodWithoutParams {
    public typealias Result = MessageResult
    public static let name = "agent.lock"
    public static let summary = "Locks the agent. Not in this version."
    public static let access = AccessClass.admin

    public init() {}
}

/// `agent.unlock`.
public struct AgentUnlock: AgentMethod, HoldsSecrets {
    public typealias Result = StoreInfo
    public static let name = "agent.unlock"
    public static let summary = "Opens the store, with its passphrase if it has one."
    public static let access = AccessClass.admin
    public static let secrecy = Secrecy.ownAgentOnly

    /// Secret. `nil`: the agent answers whether it needs one.
    public var passphrase: String?

    public init(blank: Blank) {}
    public init(passphrase: String? = nil) { self.passphrase = passphrase }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("passphrase", &passphrase, .string)
    }
}

/// `rpc.discover`.
public struct RPCDiscover: MethodWithoutParams {
    public typealias Result = OpenRPCDocument
    public static let name = "rpc.discover"
    public static let summary = "Describes all methods, in OpenRPC."
    public static let access = AccessClass.status

    public init() {}
}
