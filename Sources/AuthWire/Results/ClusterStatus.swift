/// The result of `cluster.status`.
public struct ClusterStatus: WireObject {
    public var hosts: [ClusterHostInfo] = []

    public init(blank: Blank) {}
    public init(hosts: [ClusterHostInfo]) { self.hosts = hosts }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("hosts", &hosts, .list())
    }
}

/// A host that shares the sessions.
public struct ClusterHostInfo: WireObject {
    /// From its public key.
    public var id = ""
    /// What it calls itself.
    public var name = ""
    /// Whether it is the one of this agent.
    public var isThis = false

    public init(blank: Blank) {}
    public init(id: String, name: String, isThis: Bool) { (self.id, self.name, self.isThis) = (id, name, isThis) }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("id", &id, .string)
        try visitor.required("name", &name, .string)
        try visitor.written("this", &isThis, .bool)
    }
}

/// The result of `cluster.join`.
public struct ClusterCode: WireObject {
    /// For a host that is a member. Secret until then.
    public var code = ""

    public init(blank: Blank) {}
    public init(code: String) { self.code = code }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("code", &code, .string)
    }
}
