/// `agent.lock`: no token until the agent is unlocked.
public struct AgentLock: MethodWithoutParams {
    public typealias Result = LockStatus
    public static let info = MethodInfo(
        "agent.lock", .admin, "Locks the agent: it returns no token until it is unlocked.")
    public init() {}
}

public struct AgentUnlock: AgentMethod, HoldsSecrets {
    public typealias Result = LockStatus
    public static let info = MethodInfo(
        "agent.unlock", .admin, "Unlocks the agent with the lock's passphrase, or a check of the user's presence.",
        secrecy: .ownAgentOnly)

    /// Secret. `nil`: the agent answers that it needs one.
    public var passphrase: String?
    /// A check of the user's presence instead of the passphrase.
    public var presence: Bool?

    public init(blank: Blank) {}
    public init(passphrase: String? = nil, presence: Bool? = nil) {
        (self.passphrase, self.presence) = (passphrase, presence)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("passphrase", &passphrase, .string)
        try visitor.optional("presence", &presence, .bool)
    }
}

/// `agent.passphrase`: sets the passphrase of the lock.
public struct AgentPassphrase: AgentMethod, HoldsSecrets {
    public typealias Result = LockStatus
    public static let info = MethodInfo(
        "agent.passphrase", .admin, "Sets the passphrase that unlocks the agent.", secrecy: .ownAgentOnly)

    /// The new one. Secret.
    public var passphrase = ""
    /// The present one, if there is one. Secret.
    public var current: String?

    public init(blank: Blank) {}
    public init(passphrase: String, current: String? = nil) {
        self.passphrase = passphrase
        self.current = current
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("passphrase", &passphrase, .string)
        try visitor.optional("current", &current, .string)
    }
}
