package import AuthWire

/// The content of a provider's response. A member that was not in it is `nil`, and the session keeps its own.
package struct Grant: Sendable, Equatable {
    package var accessToken: Secret?
    package var tokenType: String?
    package var refreshToken: Secret?
    /// OpenID Connect Core 1.0 §2; unchecked.
    package var idToken: Secret?
    /// The granted scopes, if the response lists them (RFC 6749 §5.1).
    package var scopes: [String]?
    /// When the request was sent.
    package var issuedAt: WallTime
    package var expiresAt: WallTime?
    package var user: UserSummary?
    package var rawUser: JSON?
    /// The ID token was not accepted, so the user is known from UserInfo at most.
    package var isUserUnverified = false
    /// When the refresh token ends, if the response says so.
    package var refreshEndsAt: WallTime?
    package var needsPassword: Bool?
    /// The session's cookies after this response; `nil`: they did not change.
    package var cookies: CookieJar?
    /// The provider's message to the user.
    package var message: String?

    package init(
        accessToken: Secret? = nil, tokenType: String? = nil, refreshToken: Secret? = nil, issuedAt: WallTime,
        expiresAt: WallTime? = nil, user: UserSummary? = nil, rawUser: JSON? = nil, needsPassword: Bool? = nil,
        message: String? = nil
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.refreshToken = refreshToken
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.user = user
        self.rawUser = rawUser
        self.needsPassword = needsPassword
        self.message = message
    }
}
