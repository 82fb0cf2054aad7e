/// The result of `cluster.status`.
public struct ClusterStatus: WireObject {
    public var hosts: [ClusterHostInfo] = []
    /// Sessions that a host renews now.
    public var renewals: [ClusterRenewal] = []
    /// The members of etcd that the settings name, in that order.
    public var etcd: [EtcdMemberInfo] = []
    /// How many members of etcd vote, whether or not the settings name them; `nil`: unknown.
    public var voters: Int?
    /// The state of etcd; `nil`: it could not be read.
    public var revision: Int?
    /// The last state of etcd whose changes this agent has processed.
    public var processedRevision: Int?
    /// Changes of sessions, holds and hosts that this agent has not processed within a second.
    public var unprocessed: Int?
    /// A change of the record key has not ended: records may be sealed with the former one.
    public var isRekeying = false
    /// The fault of the cluster because of which only a part is known, such as `cluster_no_quorum`.
    public var cause: String?
    /// For the user, with ``cause``.
    public var message: String?

    public init(blank: Blank) {}
    public init() {}

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("hosts", &hosts, .list())
        try visitor.written("renewals", &renewals, .list())
        try visitor.written("etcd", &etcd, .list())
        try visitor.optional("voters", &voters, .count)
        try visitor.optional("revision", &revision, .count)
        try visitor.optional("processed_revision", &processedRevision, .count)
        try visitor.optional("unprocessed", &unprocessed, .count)
        try visitor.optional("rekeying", &isRekeying, .bool, default: false)
        try visitor.optional("cause", &cause, .string)
        try visitor.optional("message", &message, .string)
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
    /// That of its authd, as it reports it; `nil`: it has never reported one.
    public var version: String?
    /// Whether it is connected; `nil`: etcd could not be read.
    public var isConnected: Bool?
    /// When it last reported that it was connected, by its own clock.
    public var seenAt: Double?

    public init(blank: Blank) {}
    public init(id: String, name: String, isThis: Bool) { (self.id, self.name, self.isThis) = (id, name, isThis) }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("id", &id, .string)
        try visitor.required("name", &name, .string)
        try visitor.written("this", &isThis, .bool)
        try visitor.optional("version", &version, .string)
        try visitor.optional("connected", &isConnected, .bool)
        try visitor.optional("seen_at", &seenAt, .instant)
    }
}

/// A session that a host renews now.
public struct ClusterRenewal: WireObject {
    public var session = SessionName.blank
    /// The ID of the host; `nil`: its authd does not report it.
    public var host: String?

    public init(blank: Blank) {}
    public init(session: SessionName, host: String?) { (self.session, self.host) = (session, host) }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("session", &session, .sessionName)
        try visitor.optional("host", &host, .string)
    }
}

/// How far a member of etcd is usable.
public enum EtcdMemberState: String, Sendable, CaseIterable {
    case ready
    /// It is not connected to a majority of the members.
    case noLeader = "no_leader"
    case notAnswering = "not_answering"
    /// It answered with an error.
    case failed
    /// It belongs to a different cluster than the members before it.
    case otherCluster = "other_cluster"
}

/// A member of etcd.
public struct EtcdMemberInfo: WireObject {
    /// As the settings name it.
    public var endpoint = ""
    public var state = EtcdMemberState.notAnswering
    /// What etcd calls it.
    public var name: String?
    public var version: String?
    public var isLeader = false
    /// Raft's term and the last index that it knows of (etcd, "maintenance/status").
    public var term: Int?
    public var index: Int?
    /// Entries that another member has and this one has not applied yet.
    public var behind: Int?
    /// The size of its data on the disk, and how much of that is in use.
    public var bytes: Int?
    public var usedBytes: Int?
    /// Such as `NOSPACE`.
    public var alarms: [String] = []
    /// For the user, if it is not ready.
    public var message: String?

    public init(blank: Blank) {}
    public init(endpoint: String, state: EtcdMemberState) { (self.endpoint, self.state) = (endpoint, state) }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("endpoint", &endpoint, .string)
        try visitor.required("state", &state, .word)
        try visitor.optional("name", &name, .string)
        try visitor.optional("version", &version, .string)
        try visitor.optional("leader", &isLeader, .bool, default: false)
        try visitor.optional("raft_term", &term, .count)
        try visitor.optional("raft_index", &index, .count)
        try visitor.optional("behind", &behind, .count)
        try visitor.optional("db_bytes", &bytes, .count)
        try visitor.optional("db_bytes_in_use", &usedBytes, .count)
        try visitor.optional("alarms", &alarms, .strings, default: [])
        try visitor.optional("message", &message, .string)
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
