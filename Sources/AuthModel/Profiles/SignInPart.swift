/// One request of a sign-in.
package enum SignInPart: Sendable, Equatable {
    /// ``SignInMethod/challenge``.
    case challenge
    /// ``SignInMethod/first``.
    case first
    /// ``SignInMethod/request``.
    case own
    /// Checks a ``SignInKey``.
    case check
}

/// What the response to one request of a sign-in says.
package struct SignInResponse: Sendable {
    /// With an access token; `nil` if the sign-in is not complete.
    package var grant: Grant?
    /// The provider's message to the user.
    package var message: String?
    /// The cookies of the sign-in after this response.
    package var cookies = CookieJar()

    package init(grant: Grant? = nil, message: String? = nil) {
        self.grant = grant
        self.message = message
    }
}
