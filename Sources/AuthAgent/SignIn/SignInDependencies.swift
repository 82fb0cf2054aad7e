package import AuthModel

/// What signing in at an authorization server needs besides HTTP.
package struct SignInDependencies: Sendable {
    package let cryptography: any Cryptography
    package let redirects: any RedirectListening
    /// Stores the clients that providers have registered.
    package let keys: any KeyStore
    /// Logs that a sign-in proceeds in a different way than intended. The text has no secrets.
    package let note: @Sendable (String) -> Void

    package init(
        cryptography: any Cryptography, redirects: any RedirectListening, keys: any KeyStore,
        note: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.cryptography = cryptography
        self.redirects = redirects
        self.keys = keys
        self.note = note
    }
}
