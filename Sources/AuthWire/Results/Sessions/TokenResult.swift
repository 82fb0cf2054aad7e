/// The result of `token.get`.
public struct TokenResult: WireObject, HoldsSecrets {
    /// Secret.
    public var accessToken = ""
    /// As the provider spells it, usually `Bearer`.
    public var tokenType = ""
    /// Unix seconds; `nil`: the provider does not say.
    public var expiresAt: Double?
    /// How long it is still valid, which may be less than requested; `nil`: the provider does not say.
    public var valid: Duration?
    public var session = SessionName.blank
    /// What the provider says it granted; `nil`: it does not say. Never sent: it is for the agent's own checks.
    package var granted: [String]?
    /// It is the session's own token, although another one was requested. Never sent.
    package var isOwn = false

    public init(blank: Blank) {}
    public init(
        accessToken: String, tokenType: String, expiresAt: Double? = nil, valid: Duration? = nil, session: SessionName
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresAt = expiresAt
        self.valid = valid
        self.session = session
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("access_token", &accessToken, .string)
        try visitor.required("token_type", &tokenType, .string)
        try visitor.optional("expires_at", &expiresAt, .instant)
        try visitor.required("session", &session, .sessionName)
        try visitor.optional("valid_ms", &valid, .length)
    }
}
