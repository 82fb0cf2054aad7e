/// Where a session stands. Renewing is no state: a token that is good is served meanwhile.
public enum SessionState: String, Sendable, CaseIterable {
    case signedOut = "signed_out"
    case signingIn = "signing_in"
    case active
    /// Kept, but the token has ended and renewing it has failed so far.
    case stale
    /// Kept, but cannot be read yet.
    case keyringLocked = "keyring_locked"
    /// The provider gave a final no.
    case signInRequired = "sign_in_required"
}

/// All that may be seen of a session. Instants are Unix seconds.
public struct SessionStatus: Sendable, Equatable {
    public var session: SessionName
    public var provider: String
    public var environment: String?
    public var state: SessionState
    /// A word for programs: why the state is what it is.
    public var cause: String?
    /// The same in words for people.
    public var message: String?
    public var user: UserSummary?
    /// The account has no password yet.
    public var needsPassword: Bool
    /// Something renews it without a person; where nothing does, it ends at `expiresAt`.
    public var renews: Bool
    /// The answers to the sign-in are kept, to sign in again by.
    public var remembered: Bool
    public var expiresAt: Double?
    /// When it is renewed next.
    public var refreshAt: Double?
    public var issuedAt: Double?
    /// When nothing renews it any more, where the provider tells that.
    public var endsAt: Double?
    public var signedInAt: Double?
    /// What the last try to renew said.
    public var lastError: String?
    /// Kept in memory only, because the store cannot be written now.
    public var unsaved: Bool
    /// Why it is unsaved, in the store's words.
    public var storeError: String?
    /// How far the provider's clock is ahead of this machine's, or below zero behind it; where that is a minute or more.
    public var clockSkew: Duration?
    /// What the token in use is good for, if the provider says that or they were requested (OAuth).
    public var scopes: [String]?
    /// Where it is kept.
    public var store: StoreKind?
    /// `default` on the wire.
    public var isDefault: Bool

    public init(
        session: SessionName, provider: String, environment: String? = nil, state: SessionState, cause: String? = nil,
        message: String? = nil, user: UserSummary? = nil, needsPassword: Bool = false, renews: Bool = true,
        remembered: Bool = false, expiresAt: Double? = nil, refreshAt: Double? = nil, issuedAt: Double? = nil,
        endsAt: Double? = nil, signedInAt: Double? = nil, lastError: String? = nil, unsaved: Bool = false,
        storeError: String? = nil, clockSkew: Duration? = nil, scopes: [String]? = nil, store: StoreKind? = nil,
        isDefault: Bool = false
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
        self.signedInAt = signedInAt
        self.lastError = lastError
        self.unsaved = unsaved
        self.storeError = storeError
        self.clockSkew = clockSkew
        self.scopes = scopes
        self.store = store
        self.isDefault = isDefault
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        session = try members.required("session", .sessionName)
        provider = try members.required("provider", .string)
        environment = try members.optional("environment", .string)
        state = try members.required("state", .word)
        cause = try members.optional("cause", .string)
        message = try members.optional("message", .string)
        user = try members.nested("user", UserSummary.init)
        needsPassword = try members.optional("needs_password", .bool) ?? false
        renews = try members.optional("renews", .bool) ?? true
        remembered = try members.optional("remembered", .bool) ?? false
        expiresAt = try members.optional("expires_at", .instant)
        refreshAt = try members.optional("refresh_at", .instant)
        issuedAt = try members.optional("issued_at", .instant)
        endsAt = try members.optional("ends_at", .instant)
        signedInAt = try members.optional("signed_in_at", .instant)
        lastError = try members.optional("last_error", .string)
        unsaved = try members.optional("unsaved", .bool) ?? false
        storeError = try members.optional("store_error", .string)
        clockSkew = try members.optional("clock_skew_ms", .skew)
        scopes = try members.optional("scopes", .strings)
        store = try members.optional("store", .word)
        isDefault = try members.optional("default", .bool) ?? false
    }

    public var json: JSON {
        var object: JSONObject = ["session": .string(session.text), "provider": .string(provider)]
        object["environment"] = environment.map(JSON.string)
        object["state"] = .string(state.rawValue)
        object["cause"] = cause.map(JSON.string)
        object["message"] = message.map(JSON.string)
        object["user"] = user?.json
        object["needs_password"] = .bool(needsPassword)
        object["renews"] = .bool(renews)
        if remembered { object["remembered"] = true }
        object["expires_at"] = expiresAt.map(JSON.instant)
        object["refresh_at"] = refreshAt.map(JSON.instant)
        object["issued_at"] = issuedAt.map(JSON.instant)
        object["ends_at"] = endsAt.map(JSON.instant)
        object["signed_in_at"] = signedInAt.map(JSON.instant)
        object["last_error"] = lastError.map(JSON.string)
        if unsaved { object["unsaved"] = true }
        object["store_error"] = storeError.map(JSON.string)
        object["clock_skew_ms"] = clockSkew.map(JSON.milliseconds)
        object["scopes"] = scopes.map { .array($0.map(JSON.string)) }
        object["store"] = store.map { .string($0.rawValue) }
        object["default"] = .bool(isDefault)
        return .object(object)
    }
}

/// Of `session.list`.
public struct SessionList: Sendable, Equatable {
    public var sessions: [SessionStatus]

    public init(sessions: [SessionStatus]) {
        self.sessions = sessions
    }

    public init(_ json: JSON) throws(AgentError) {
        sessions = try Members(result: json).list("sessions", SessionStatus.init) ?? []
    }

    public var json: JSON { ["sessions": .array(sessions.map(\.json))] }
}
