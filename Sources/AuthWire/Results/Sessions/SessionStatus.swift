/// The state of a session. Renewing is not a state: a valid token is served meanwhile.
public enum SessionState: String, Sendable, CaseIterable {
    case signedOut = "signed_out"
    case signingIn = "signing_in"
    case active
    /// Kept, but the token has expired and renewal has failed so far.
    case stale
    /// Kept, but cannot be read yet.
    case keyringLocked = "keyring_locked"
    /// The provider gave a final refusal.
    case signInRequired = "sign_in_required"
}

/// The status of a session. Times are Unix seconds.
public struct SessionStatus: WireObject {
    public var session = SessionName.blank
    public var provider = ""
    public var environment: String?
    public var state = SessionState.signedOut
    /// Why the state is what it is, as a word for programs.
    public var cause: String?
    /// The same for the user.
    public var message: String?
    public var user: UserSummary?
    /// The account has no password yet.
    public var needsPassword = false
    /// The agent renews it without the user. If not, it ends at `expiresAt`.
    public var renews = true
    /// The fields of the sign-in are kept, to sign in again with them.
    public var remembered = false
    public var expiresAt: Double?
    /// When it is renewed next.
    public var refreshAt: Double?
    public var issuedAt: Double?
    /// When it can no longer be renewed, if the provider says that.
    public var endsAt: Double?
    /// A renewal did not move ``endsAt``; `end_is_fixed` on the wire. Unknown before the agent has renewed it once.
    public var isEndFixed = false
    public var signedInAt: Double?
    /// The error of the last try to renew.
    public var lastError: String?
    /// Kept in memory only, because the store cannot be written now.
    public var unsaved = false
    /// Why it is unsaved: the store's message.
    public var storeError: String?
    /// How far the provider's clock is ahead of this machine's; negative if it is behind. Absent below a minute.
    public var clockSkew: Duration?
    /// The scopes of the token, if the provider reports them or they were requested (OAuth).
    public var scopes: [String]?
    /// The session whose sign-in renews this one; `nil` if it has its own sign-in.
    public var sharedSession: SessionName?
    /// Where it is kept.
    public var store: StoreKind?
    /// When the agent was locked; `nil`: it is not locked.
    public var lockedSince: Double?
    /// `default` on the wire.
    public var isDefault = false

    public init(blank: Blank) {}
    public init(
        session: SessionName, provider: String, environment: String? = nil, state: SessionState, cause: String? = nil,
        message: String? = nil, user: UserSummary? = nil, needsPassword: Bool = false, renews: Bool = true,
        remembered: Bool = false, expiresAt: Double? = nil, refreshAt: Double? = nil, issuedAt: Double? = nil,
        endsAt: Double? = nil, isEndFixed: Bool = false, signedInAt: Double? = nil, lastError: String? = nil,
        unsaved: Bool = false,
        storeError: String? = nil, clockSkew: Duration? = nil, scopes: [String]? = nil,
        sharedSession: SessionName? = nil, store: StoreKind? = nil, lockedSince: Double? = nil, isDefault: Bool = false
    ) {
        self.session = session
        self.provider = provider
        self.environment = environment
        self.state = state
        self.cause = cause
        self.message = message
        self.user = user
        self.needsPassword = needsPassword
        self.renews = renews
        self.remembered = remembered
        self.expiresAt = expiresAt
        self.refreshAt = refreshAt
        self.issuedAt = issuedAt
        self.endsAt = endsAt
        self.isEndFixed = isEndFixed
        self.signedInAt = signedInAt
        self.lastError = lastError
        self.unsaved = unsaved
        self.storeError = storeError
        self.clockSkew = clockSkew
        self.scopes = scopes
        self.sharedSession = sharedSession
        self.store = store
        self.lockedSince = lockedSince
        self.isDefault = isDefault
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("session", &session, .sessionName)
        try visitor.required("provider", &provider, .string)
        try visitor.optional("environment", &environment, .string)
        try visitor.required("state", &state, .word)
        try visitor.optional("cause", &cause, .string)
        try visitor.optional("message", &message, .string)
        try visitor.optional("user", &user, .object)
        try visitor.written("needs_password", &needsPassword, .bool)
        try visitor.written("renews", &renews, .bool)
        try visitor.optional("remembered", &remembered, .bool, default: false)
        try visitor.optional("expires_at", &expiresAt, .instant)
        try visitor.optional("refresh_at", &refreshAt, .instant)
        try visitor.optional("issued_at", &issuedAt, .instant)
        try visitor.optional("ends_at", &endsAt, .instant)
        try visitor.optional("end_is_fixed", &isEndFixed, .bool, default: false)
        try visitor.optional("signed_in_at", &signedInAt, .instant)
        try visitor.optional("last_error", &lastError, .string)
        try visitor.optional("unsaved", &unsaved, .bool, default: false)
        try visitor.optional("store_error", &storeError, .string)
        try visitor.optional("clock_skew_ms", &clockSkew, .skew)
        try visitor.optional("scopes", &scopes, .strings)
        try visitor.optional("shared_session", &sharedSession, .sessionName)
        try visitor.optional("store", &store, .word)
        try visitor.optional("locked_since", &lockedSince, .instant)
        try visitor.written("default", &isDefault, .bool)
    }
}

/// The result of `session.list`.
public struct SessionList: WireObject {
    public var sessions: [SessionStatus] = []

    public init(blank: Blank) {}
    public init(sessions: [SessionStatus]) { self.sessions = sessions }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("sessions", &sessions, .list())
    }
}
