/// Whether the agent is locked, and why.
public struct LockStatus: WireObject {
    /// `locked` on the wire.
    public var isLocked = false
    /// Unix seconds.
    public var since: Double?
    /// `command`, `idle`, `login_sessions`, `sleep`, or `unknown` if the file with the state cannot be read.
    public var reason: String?
    /// Failed attempts to unlock it in the last minutes.
    public var failedAttempts: Int?
    /// The end of the time in which attempts are refused without a check.
    public var pausedUntil: Double?
    /// A passphrase is set. Without one the agent does not lock.
    public var hasPassphrase = false
    /// When the last access token that programs may have ends.
    public var tokensEndAt: Double?

    public init(blank: Blank) {}
    public init(
        isLocked: Bool, since: Double? = nil, reason: String? = nil, failedAttempts: Int? = nil,
        pausedUntil: Double? = nil, hasPassphrase: Bool = false, tokensEndAt: Double? = nil
    ) {
        self.isLocked = isLocked
        self.since = since
        self.reason = reason
        self.failedAttempts = failedAttempts
        self.pausedUntil = pausedUntil
        self.hasPassphrase = hasPassphrase
        self.tokensEndAt = tokensEndAt
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("locked", &isLocked, .bool)
        try visitor.optional("since", &since, .instant)
        try visitor.optional("why", &reason, .string)
        try visitor.optional("failed_attempts", &failedAttempts, .integer)
        try visitor.optional("paused_until", &pausedUntil, .instant)
        try visitor.optional("passphrase_set", &hasPassphrase, .bool, default: false)
        try visitor.optional("tokens_end_at", &tokensEndAt, .instant)
    }
}
