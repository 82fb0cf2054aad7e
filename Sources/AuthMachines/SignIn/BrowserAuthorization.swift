package import AuthModel

/// What the browser is sent to.
package struct BrowserAuthorization: Sendable {
    package let attempt: AuthorizationAttempt
    /// Whether the browser comes back by itself.
    package let listens: Bool
    /// The fingerprint of a certificate that was made for this sign-in, so that the browser does not know it.
    package let fingerprint: String?

    package init(attempt: AuthorizationAttempt, listens: Bool, fingerprint: String? = nil) {
        self.attempt = attempt
        self.listens = listens
        self.fingerprint = fingerprint
    }
}
