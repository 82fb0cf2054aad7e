import AuthModel
import AuthWire

extension SignInDependencies {
    /// Certificates are compared with this machine's own clock, which may have been set a moment ago.
    private static var grace: Duration { .seconds(60) }

    /// Binds the address that a sign-in's browser comes back to.
    /// - Returns: `nil` if nothing listens there: the desktop passes addresses of a private scheme on.
    func bindRedirect(for oauth: OAuthProfile, at now: WallTime) async throws(AgentError) -> BoundRedirect? {
        guard case .loopback(let redirect) = oauth.redirect else { return nil }
        guard redirect.isSecure else {
            return BoundRedirect(listener: try await redirects.listen(at: redirect, as: nil))
        }
        let identity = try await identity(of: redirect, oauth.tlsIdentity, at: now)
        return BoundRedirect(
            listener: try await redirects.listen(at: redirect, as: identity),
            fingerprint: oauth.tlsIdentity == nil ? identity.fingerprint : nil)
    }

    /// The user's own, read again for each sign-in as it is renewed now and then, or one that lasts as long as a sign-in and is
    /// only in memory.
    private func identity(
        of redirect: LoopbackRedirect, _ files: TLSIdentityFiles?, at now: WallTime
    ) async throws(AgentError) -> TLSIdentity {
        guard let files else {
            let made = cryptography.makeTLSIdentity(
                for: redirect.host, from: now + (.zero - Self.grace),
                until: now + AuthorizationAttempt.timeout + Self.grace)
            guard let made else { throw .internalError("no certificate could be made for \(redirect.uri(port: nil))") }
            return made
        }
        do throws(TLSIdentityError) {
            let (certificates, key) = try await redirects.read(files)
            return try cryptography.tlsIdentity(
                certificates: certificates, key: key, for: redirect.host, at: now)
        } catch {
            throw AgentError(
                .validation,
                "The browser cannot be redirected to \(redirect.uri(port: nil)): \(error.reason). Fix that, or leave "
                    + "redirect_certificate and redirect_key out of the profile.", cause: "redirect_certificate")
        }
    }
}

/// Where a browser comes back to.
struct BoundRedirect: Sendable {
    let listener: any RedirectListener
    /// The fingerprint of a certificate that was made for this sign-in: a browser will warn about it.
    var fingerprint: String?
}
