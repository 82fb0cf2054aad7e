package import AuthWire

/// All that is kept of one session: written whole, in one value, so that a rotation is one write.
///
/// It has two parts that change independently, the tokens and what users change; see ``RecordVersion``. What is neither
/// stays the same as long as the sign-in.
/// Dates, not deadlines: a record outlives a boot.
package struct SessionRecord: Sendable, Equatable {
    package var session: SessionName
    package var provider: String
    package var environment: String
    /// The sign-in method that began it.
    package var method: String
    package var tokens: TokenSet
    package var user: UserSummary?
    /// The backend's own user object, as last received.
    package var rawUser: JSON?
    /// When the user was received; `nil` where none was, or an older authd wrote the record.
    package var userReceivedAt: WallTime?
    package var needsPassword: Bool
    package var signedInAt: WallTime
    /// Of the sign-in that began it: it tells this session from a former or later one of its name.
    package var signIn: SignInID
    /// What a new sign-in needs, kept only when the person said so.
    package var remembered: [String: Secret]?
    /// What we are known by at an authorization server besides our name: a secret (RFC 6749 §2.3.1), or a private key in
    /// PEM where the profile says so (RFC 7523 §2.2).
    package var clientSecret: Secret?
    /// What the provider has registered us as, where it did that itself; then in place of ``clientSecret``.
    package var client: RegisteredClient?
    /// Of the tokens: grows by one with everything that the provider issues or prolongs.
    package var generation: UInt64
    /// Grows by one with each correction of the tokens' dates, after the clock was set.
    package var corrections: UInt64
    /// Of what users change: grows by one with each change of that.
    package var revision: UInt64
    /// Where its tokens and credentials may be sent; `nil`: an older authd wrote the record, and the profile's are adopted when
    /// it is read.
    package var origins: TokenOrigins?
    /// When it became the default session; `nil` if it is not. Of several records the latest counts.
    package var defaultSince: WallTime?
    /// It became the default because there was no other session: the settings may name another one.
    package var isDefaultImplied: Bool

    /// - Parameter signIn: `nil` if the sign-in has no ID but its date.
    package init(
        session: SessionName, provider: String, environment: String, method: String, tokens: TokenSet,
        user: UserSummary?, rawUser: JSON?, userReceivedAt: WallTime? = nil, needsPassword: Bool = false,
        signedInAt: WallTime, signIn: SignInID? = nil, remembered: [String: Secret]? = nil,
        clientSecret: Secret? = nil, client: RegisteredClient? = nil, generation: UInt64 = 1, corrections: UInt64 = 0,
        revision: UInt64 = 1, defaultSince: WallTime? = nil, isDefaultImplied: Bool = false,
        origins: TokenOrigins? = nil
    ) {
        self.session = session
        self.provider = provider
        self.environment = environment
        self.method = method
        self.tokens = tokens
        self.user = user
        self.rawUser = rawUser
        self.userReceivedAt = userReceivedAt
        self.needsPassword = needsPassword
        self.signedInAt = signedInAt
        self.signIn = signIn ?? SignInID(signedInAt: signedInAt)
        self.remembered = remembered
        self.clientSecret = clientSecret
        self.client = client
        self.generation = generation
        self.corrections = corrections
        self.revision = revision
        self.defaultSince = defaultSince
        self.isDefaultImplied = isDefaultImplied
        self.origins = origins
    }
}

/// What a provider gave for one sign-in or renewal.
package struct TokenSet: Sendable, Equatable {
    package var accessToken: Secret
    /// As the provider spells it (RFC 6749 §7.1 compares without case).
    package var tokenType: String
    package var refreshToken: Secret?
    /// When the request was sent that brought the access token: the lifetime counts from here.
    package var issuedAt: WallTime
    /// `nil`: the provider does not tell, and the token is good until one says 401.
    package var expiresAt: WallTime?
    /// The life of the refresh token, where the provider tells it.
    package var refreshLife: TokenLife?
    /// The private key that the tokens are bound to (RFC 9449), in PEM; `nil`: they are whoever's has them.
    package var proofKey: Secret?
    /// `nil`: the provider has never said, and nobody has requested any.
    package var scopes: TokenScopes?
    /// A token for one scope or audience was fetched with the refresh token since. Some providers revoke the access token
    /// then, and narrow the new refresh token to what was requested.
    package var isSuspect: Bool

    package init(
        accessToken: Secret, tokenType: String = "Bearer", refreshToken: Secret? = nil, issuedAt: WallTime,
        expiresAt: WallTime? = nil, refreshLife: TokenLife? = nil, proofKey: Secret? = nil,
        scopes: TokenScopes? = nil, isSuspect: Bool = false
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.refreshToken = refreshToken
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.refreshLife = refreshLife
        self.proofKey = proofKey
        self.scopes = scopes
        self.isSuspect = isSuspect
    }

    /// Whatever the dates say: they follow the clock when that is set.
    package func areSame(as other: TokenSet) -> Bool {
        accessToken == other.accessToken && refreshToken == other.refreshToken
    }
}

/// The scopes of a session (RFC 6749 §3.3).
package struct TokenScopes: Sendable, Equatable {
    /// At sign-in.
    package var granted: [String]
    /// Of the access token in use.
    package var present: [String]

    package init(granted: [String], present: [String]? = nil) {
        self.granted = granted
        self.present = present ?? granted
    }

    /// Those that a renewal did not bring back. Many servers do not list `offline_access`, which is no right to anything
    /// but renewal.
    package var lost: [String] { granted.filter { $0 != "offline_access" && !present.contains($0) } }
}

/// From when to when a token is good.
package struct TokenLife: Sendable, Equatable {
    package let issuedAt: WallTime
    package let expiresAt: WallTime

    package init(issuedAt: WallTime, expiresAt: WallTime) {
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
