/// Where sessions are kept.
public enum StoreKind: String, Sendable, CaseIterable {
    case secretService = "secret-service"
    case sealedFile = "sealed-file"
    /// In etcd, for several hosts.
    case etcd
    case memory

    /// Whether a key or a passphrase of the user opens it.
    public var isSealed: Bool { self == .sealedFile || self == .etcd }
}

/// The state of the store.
public enum StoreState: String, Sendable, CaseIterable {
    case ready
    /// It continues by itself when the user unlocks it.
    case locked
    /// It waits for the user's answer to a question.
    case waiting
    /// There is no such service.
    case missing
    case denied
    case notAnswering = "not_answering"
    /// It answered with an error.
    case failed
    /// It has not been used yet.
    case starting
}

public struct StoreInfo: WireObject {
    public var kind = StoreKind.memory
    public var state = StoreState.starting
    /// For the user, if the state is not `ready` or something in the store cannot be read.
    public var message: String?
    /// The fault of the cluster that sessions are in, such as `cluster_unreachable`.
    public var cause: String?
    /// The program that provides it; `nil` if there is none, or it is not known.
    public var process: StoreProcess?

    public init(blank: Blank) {}
    public init(
        kind: StoreKind, state: StoreState, message: String? = nil, cause: String? = nil, process: StoreProcess? = nil
    ) {
        self.kind = kind
        self.state = state
        self.message = message
        self.cause = cause
        self.process = process
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("kind", &kind, .word)
        try visitor.required("state", &state, .word)
        try visitor.optional("message", &message, .string)
        try visitor.optional("cause", &cause, .string)
        try visitor.optional("process", &process, .object)
    }
}

/// The process behind a store, such as the one that owns the keyring's name on the message bus.
public struct StoreProcess: WireObject {
    public var pid: Int32 = 0
    /// The kernel's name (proc(5), "comm"); `nil` if it cannot be read.
    public var name: String?

    public init(blank: Blank) {}
    public init(pid: Int32, name: String?) {
        self.pid = pid
        self.name = name
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("pid", &pid, .processID)
        try visitor.optional("name", &name, .string)
    }
}
