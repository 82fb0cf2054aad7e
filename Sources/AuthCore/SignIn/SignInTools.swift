/// What signing in at an authorization server needs besides HTTP.
package struct SignInTools: Sendable {
    package let cryptography: any Cryptography
    package let redirects: any RedirectListening

    package init(cryptography: any Cryptography, redirects: any RedirectListening) {
        self.cryptography = cryptography
        self.redirects = redirects
    }
}
