/// `cluster.status`.
public struct ClusterStatusGet: MethodWithoutParams {
    public typealias Result = ClusterStatus
    public static let info = MethodInfo(
        "cluster.status", .status, "Shows the hosts that share the sessions, who renews them, and the members of etcd.")
    public init() {}
}

/// `cluster.join`.
public struct ClusterJoin: MethodWithoutParams {
    public typealias Result = ClusterCode
    public static let info = MethodInfo(
        "cluster.join", .admin, "Requests that this host be admitted to the cluster of its etcd.", secrecy: .guarded)
    public init() {}
}

/// `cluster.admit`.
public struct ClusterAdmit: AgentMethod, HoldsSecrets {
    public typealias Result = MessageResult
    public static let info = MethodInfo(
        "cluster.admit", .admin, "Admits the host that shows this code.", secrecy: .ownAgentOnly)

    /// Secret, until the host is admitted.
    public var code = ""

    public init(blank: Blank) {}
    public init(code: String) { self.code = code }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("code", &code, .string)
    }
}

/// `cluster.forget`.
public struct ClusterForget: AgentMethod {
    public typealias Result = MessageResult
    public static let info = MethodInfo(
        "cluster.forget", .admin, "Removes a host from the cluster, and seals every session with a new key.")

    /// Its ID, or its name if only one host has it.
    public var host = ""

    public init(blank: Blank) {}
    public init(host: String) { self.host = host }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("host", &host, .string)
    }
}
