package import AuthWire

/// Everything that is stored of one session: written as one value, so that a rotation is one write.
///
/// It has two parts that change independently, the tokens and the user data; see ``RecordVersion``. The rest stays the same
/// during a sign-in. Dates, not deadlines: a record outlives a boot.
package struct SessionRecord: Sendable, Equatable {
    package var session: SessionName
    package var provider: String
    package var environment: String
    /// The sign-in method.
    package var method: String
    package var tokens: TokenSet
    package var user: UserSummary?
    /// The provider's own user object, as last received.
    package var rawUser: JSON?
    /// When the user was received; `nil` if it was not, or an older authd wrote the record.
    package var userReceivedAt: WallTime?
    package var needsPassword: Bool
    package var signedInAt: WallTime
    /// Distinguishes this session from earlier and later ones with the same name.
    package var signIn: SignInID
    /// Answers for another sign-in, kept only if the user agreed.
    package var remembered: [String: Secret]?
    /// The client's secret at an authorization server (RFC 6749 §2.3.1), or its private key in PEM (RFC 7523 §2.2).
    package var clientSecret: Secret?
    /// The client that the provider registered; replaces ``clientSecret``.
    @Boxed package var client: RegisteredClient?
    /// The resource that was signed in to by its URL; its profile is generated.
    @Boxed package var resource: ProtectedResource?
    /// Grows by one whenever the provider issues or prolongs tokens.
    package var generation: UInt64
    /// Grows by one with each correction of the tokens' dates after a clock change.
    package var corrections: UInt64
    /// Grows by one with each change of the user data.
    package var revision: UInt64
    /// Where its tokens and credentials may be sent; `nil` if an older authd wrote the record: the profile's origins are then
    /// adopted when it is read.
    package var origins: TokenOrigins?
    /// When it became the default session; `nil` if it is not. The latest of several records counts.
    package var defaultSince: WallTime?
    /// It became the default because it was the only session: the settings may name another one.
    package var isDefaultImplied: Bool

    /// - Parameter signIn: `nil` for a sign-in that has no ID but its date.
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

/// The tokens of one sign-in or renewal.
package struct TokenSet: Sendable, Equatable {
    package var accessToken: Secret
    /// As the provider spells it (RFC 6749 §7.1: case-insensitive).
    package var tokenType: String
    package var refreshToken: Secret?
    /// When the request for the access token was sent: its lifetime begins here.
    package var issuedAt: WallTime
    /// `nil` if unknown: the token is used until the provider rejects it.
    package var expiresAt: WallTime?
    /// `nil` if the provider does not report it.
    package var refreshLife: TokenLife?
    /// The private key that the tokens are bound to (RFC 9449), in PEM; `nil` for bearer tokens.
    package var proofKey: Secret?
    /// `nil` if the provider has never reported any and none were requested.
    package var scopes: TokenScopes?
    /// A token for one scope or audience was fetched with the refresh token since. Some providers then revoke the access
    /// token and narrow the new refresh token to that request.
    package var isSuspect: Bool
    /// Empty unless the profile keeps cookies.
    package var cookies = CookieJar()
    /// The last renewal with it did not replace the refresh token.
    package var keepsRefreshToken = false

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

    /// Dates do not count: they are corrected when the clock is set.
    package func areSame(as other: TokenSet) -> Bool { pair == other.pair }

    /// Whether the access token has ended, by a clock that its dates are of.
    package func hasEnded(at now: WallTime) -> Bool { expiresAt.map { $0 <= now } ?? false }

    package var pair: TokenPair { TokenPair(accessToken: accessToken, refreshToken: refreshToken) }
}

/// The tokens that a provider issues, without their dates and other facts about them.
package struct TokenPair: Sendable, Equatable {
    package let accessToken: Secret
    package let refreshToken: Secret?
}

/// The scopes of a session (RFC 6749 §3.3).
package struct TokenScopes: Sendable, Equatable {
    /// The scopes that were granted at sign-in.
    package var granted: [String]
    /// The scopes of the current access token.
    package var present: [String]

    package init(granted: [String], present: [String]? = nil) {
        self.granted = granted
        self.present = present ?? granted
    }

    /// Scopes that a renewal did not return. Many servers do not list `offline_access`, which permits only renewal.
    package var lost: [String] { granted.filter { $0 != "offline_access" && !present.contains($0) } }
}

package struct TokenLife: Sendable, Equatable {
    package let issuedAt: WallTime
    package let expiresAt: WallTime

    package init(issuedAt: WallTime, expiresAt: WallTime) {
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
