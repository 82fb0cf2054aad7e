/// The result of `agent.info`.
public struct AgentInfo: WireObject {
    public var version = ""
    /// Grows when something that clients rely on changes; `protocol` on the wire.
    public var protocolVersion = 0
    public var pid: Int32 = 0
    /// Unix seconds.
    public var startedAt: Double = 0
    public var store = StoreInfo(blank: Blank())
    public var features: [String] = []
    /// The program's file was replaced after the agent was started from it.
    public var restartPending = false
    /// `nil`: an older agent.
    public var restart: RestartInfo?
    /// `nil`: it is not locked.
    public var lock: LockStatus?
    /// `nil`: an older agent.
    public var landlock: LandlockState?
    /// What the user should know about the files that the agent can use.
    public var landlockNotes: [String] = []
    /// The names of the sockets for limited access that the service manager has opened.
    public var listeners: [String] = []

    public init(blank: Blank) {}
    public init(
        version: String, protocolVersion: Int, pid: Int32, startedAt: Double, store: StoreInfo, features: [String] = [],
        restartPending: Bool = false, restart: RestartInfo? = nil, lock: LockStatus? = nil,
        landlock: LandlockState? = nil, landlockNotes: [String] = [], listeners: [String] = []
    ) {
        self.version = version
        self.protocolVersion = protocolVersion
        self.pid = pid
        self.startedAt = startedAt
        self.store = store
        self.features = features
        self.restartPending = restartPending
        self.restart = restart
        self.lock = lock
        self.landlock = landlock
        self.landlockNotes = landlockNotes
        self.listeners = listeners
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("version", &version, .string)
        try visitor.required("protocol", &protocolVersion, .integer)
        try visitor.required("pid", &pid, .processID)
        try visitor.required("started_at", &startedAt, .instant)
        try visitor.required("store", &store, .object)
        try visitor.written("features", &features, .strings)
        try visitor.optional("restart_pending", &restartPending, .bool, default: false)
        try visitor.optional("restart", &restart, .object)
        try visitor.optional("lock", &lock, .object)
        try visitor.optional("landlock", &landlock, .word)
        try visitor.optional("landlock_notes", &landlockNotes, .strings, default: [])
        try visitor.optional("listeners", &listeners, .strings, default: [])
    }
}

/// The result of `agent.ping` and `agent.restart`: the process that answers.
public struct Pong: WireObject {
    public var pid: Int32 = 0

    public init(blank: Blank) {}
    public init(pid: Int32) { self.pid = pid }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("pid", &pid, .processID)
    }
}
