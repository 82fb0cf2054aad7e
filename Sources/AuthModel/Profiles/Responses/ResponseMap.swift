package import AuthWire

/// Where a response contains tokens and user.
package struct ResponseMap: Sendable, Equatable {
    package var accessToken: ValuePlace?
    package var tokenType: ValuePlace?
    package var refreshToken: ValuePlace?
    /// Lifetime in seconds from when the request was sent.
    package var expiresIn: ValuePlace?
    /// The refresh token's lifetime, like ``expiresIn``.
    package var refreshExpiresIn: ValuePlace?
    /// Expiry: Unix seconds, or a date (RFC 3339; a zone ID in brackets is allowed, RFC 9557).
    package var expiresAt: ValuePlace?
    /// If neither is present: the access token's own `exp` (RFC 7519 §4.1.4), read without checking its signature.
    package var expiresFromJWT: Bool
    /// If there are several, the first one with an ID or address is used.
    package var user: [JSONPointer]
    package var needsPassword: JSONPointer?
    /// What a sign-in must return beside the access token.
    package var required: Set<Required>
    /// Which response to a sign-in is a success; `nil`: any 2xx.
    package var success: ResponseRule?

    package enum Required: String, Sendable, CaseIterable {
        case user
        case expiresAt = "expires_at"
        case refreshToken = "refresh_token"
    }

    package init(
        accessToken: ValuePlace? = nil, tokenType: ValuePlace? = nil, refreshToken: ValuePlace? = nil,
        expiresIn: ValuePlace? = nil, refreshExpiresIn: ValuePlace? = nil, expiresAt: ValuePlace? = nil,
        expiresFromJWT: Bool = false, user: [JSONPointer] = [], needsPassword: JSONPointer? = nil,
        required: Set<Required> = [], success: ResponseRule? = nil
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
        self.refreshExpiresIn = refreshExpiresIn
        self.expiresAt = expiresAt
        self.expiresFromJWT = expiresFromJWT
        self.user = user
        self.needsPassword = needsPassword
        self.required = required
        self.success = success
    }

    /// This map, with the values that the other one sets.
    package func overridden(by other: ResponseMap?) -> ResponseMap {
        guard let other else { return self }
        return ResponseMap(
            accessToken: other.accessToken ?? accessToken, tokenType: other.tokenType ?? tokenType,
            refreshToken: other.refreshToken ?? refreshToken, expiresIn: other.expiresIn ?? expiresIn,
            refreshExpiresIn: other.refreshExpiresIn ?? refreshExpiresIn,
            expiresAt: other.expiresAt ?? expiresAt, expiresFromJWT: other.expiresFromJWT || expiresFromJWT,
            user: other.user.isEmpty ? user : other.user, needsPassword: other.needsPassword ?? needsPassword,
            required: other.required.isEmpty ? required : other.required, success: other.success ?? success)
    }

    /// For responses to requests other than sign-ins.
    var withoutSuccess: ResponseMap {
        var map = self
        map.success = nil
        return map
    }
}
