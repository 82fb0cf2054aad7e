internal import AuthModel
internal import AuthWire

/// Where a browser comes back to, and the fingerprint of a certificate that was made for it alone, of which a browser will
/// warn.
typealias ListeningRedirect = (listener: any RedirectListener, fingerprint: String?)

/// Where a sign-in waits for its person to come back.
extension SignInService {
    /// Certificates are compared with this machine's own clock, which may have been set a moment ago.
    private static let grace = Duration.seconds(60)

    func listen(_ oauth: OAuthProfile, _ tools: SignInDependencies) async throws(AgentError) -> ListeningRedirect {
        switch oauth.redirect {
        case .scheme(let redirect): return (SchemeRedirectListener(redirect), nil)
        case .loopback(let redirect) where !redirect.isSecure:
            return (try await tools.redirects.listen(at: redirect, as: nil), nil)
        case .loopback(let redirect):
            let identity = try identity(of: redirect, oauth.tlsIdentity, tools)
            let listener = try await tools.redirects.listen(at: redirect, as: identity)
            return (listener, oauth.tlsIdentity == nil ? identity.fingerprint : nil)
        }
    }

    /// The person's own, read anew for each sign-in as they are renewed now and then, or one that is good as long as a
    /// sign-in and is nowhere but in memory.
    private func identity(
        of redirect: LoopbackRedirect, _ files: TLSIdentityFiles?, _ tools: SignInDependencies
    ) throws(AgentError) -> TLSIdentity {
        let now = context.clock.now().wall
        guard let files else {
            let end = now + AuthorizationAttempt.timeout + Self.grace
            let made = tools.cryptography.makeTLSIdentity(
                for: redirect.host, from: now + (.zero - Self.grace), until: end)
            guard let made else { throw .internalError("no certificate could be made for \(redirect.uri(port: nil))") }
            return made
        }
        do throws(TLSIdentityError) {
            let (certificates, key) = try tools.redirects.read(files)
            return try tools.cryptography.tlsIdentity(
                certificates: certificates, key: key, for: redirect.host, at: now)
        } catch {
            throw AgentError(
                .validation,
                "The browser cannot come back to \(redirect.uri(port: nil)): \(error.reason). Mend that, or leave "
                    + "redirect_certificate and redirect_key out of the profile.", cause: "redirect_certificate")
        }
    }
}
