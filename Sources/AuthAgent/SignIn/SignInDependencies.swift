package import AuthModel

/// What signing in at an authorization server needs besides HTTP.
package struct SignInDependencies: Sendable {
    package let cryptography: any Cryptography
    package let redirects: any RedirectListening
    /// Has what providers registered us as.
    package let keys: any KeyStore
    /// Takes what is done in another way than it was meant, for the log. Without secrets.
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
