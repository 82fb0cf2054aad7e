package import AuthWire

/// What a provider's answer brought. A member that it did not tell is `nil`, and the session keeps its own.
package struct Grant: Sendable, Equatable {
    package var accessToken: Secret?
    package var tokenType: String?
    package var refreshToken: Secret?
    /// Who signed in, as the authorization server has it (OpenID Connect Core 1.0 §2); unchecked.
    package var idToken: Secret?
    /// What was granted, where the answer says so (RFC 6749 §5.1).
    package var scopes: [String]?
    /// When the request was sent.
    package var issuedAt: WallTime
    package var expiresAt: WallTime?
    package var user: UserSummary?
    package var rawUser: JSON?
    /// When the refresh token ends, where the answer tells.
    package var refreshEndsAt: WallTime?
    package var needsPassword: Bool?
    /// The provider's own words to the person.
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
