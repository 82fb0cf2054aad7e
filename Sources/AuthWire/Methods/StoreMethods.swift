public struct StoreUnlock: AgentMethod, HoldsSecrets {
    public typealias Result = StoreInfo
    public static let info = MethodInfo(
        "store.unlock", .admin, "Opens the store, with its passphrase if it has one.", secrecy: .ownAgentOnly)

    /// Secret. `nil`: the agent answers whether it needs one.
    public var passphrase: String?

    public init(blank: Blank) {}
    public init(passphrase: String? = nil) { self.passphrase = passphrase }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("passphrase", &passphrase, .string)
    }
}

/// `store.rekey`. Without a passphrase or a key, the former one seals the new keys.
public struct StoreRekey: AgentMethod, HoldsSecrets {
    public typealias Result = MessageResult
    public static let info = MethodInfo(
        "store.rekey", .admin, "Seals every session with a new key.", secrecy: .ownAgentOnly, isStrict: true)

    /// A new one. Secret.
    public var passphrase: String?
    /// The bytes of the key file. Secret. Not a path: the agent opens no file for a client.
    public var key: [UInt8]?
    /// The current passphrase. Secret. Required if the store has one and the request sets another passphrase or a
    /// key.
    public var current: String?

    public init(blank: Blank) {}
    public init(passphrase: String? = nil, key: [UInt8]? = nil, current: String? = nil) {
        self.passphrase = passphrase
        self.key = key
        self.current = current
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("passphrase", &passphrase, .string)
        try visitor.optional("key_base64", &key, .base64)
        try visitor.optional("current", &current, .string)
    }
}

public struct StoreMigrate: AgentMethod, HoldsSecrets {
    public typealias Result = MessageResult
    public static let info = MethodInfo(
        "store.migrate", .admin, "Moves every session to another store.", secrecy: .ownAgentOnly)
    /// The cause of the error if sessions would end on other hosts, and ``endsElsewhere`` is not set.
    public static let otherHostsCause = "other_hosts"

    public var to = StoreKind.memory
    /// The passphrase of the new store, if it has one. Secret.
    public var passphrase: String?
    /// The user knows that the sessions end on the other hosts that share them.
    public var endsElsewhere = false

    public init(blank: Blank) {}
    public init(to: StoreKind, passphrase: String? = nil, endsElsewhere: Bool = false) {
        self.to = to
        self.passphrase = passphrase
        self.endsElsewhere = endsElsewhere
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("to", &to, .word)
        try visitor.optional("passphrase", &passphrase, .string)
        try visitor.optional("ends_elsewhere", &endsElsewhere, .bool, default: false)
    }
}
