import AuthModel
import AuthWire

/// The user who signed in, as the ID token says, which the authorization server has signed.
extension ProviderClient {
    /// A grant with the user that its ID token names, if the token is valid.
    /// - Parameter nonce: what was sent with the request; `nil` if the grant has none, as the device grant.
    func identified(
        _ grant: Grant, at profile: ProviderProfile, nonce: String?, cryptography: any Cryptography, now: Moment
    ) async throws(ProviderFailure) -> Grant {
        guard let oauth = profile.oauth, let issuer = oauth.issuer, oauth.scopes.contains("openid") else {
            return grant
        }
        guard let text = grant.idToken else {
            // Only the device grant, which is not part of OpenID Connect, may do without.
            if nonce == nil { return grant }
            throw .distrusted(profile, "there is no ID token in it")
        }
        // Its dates follow the clock of the server that issued it.
        let server = try? await server(of: profile, at: now)
        let time = await signer.time(at: server?.endpoints.token ?? issuer)
        let token: IDToken
        do throws(IDTokenError) {
            token = try IDToken(text)
            try token.check(
                IDToken.Expectation(
                    issuer: issuer, tenants: server?.tenants, clientID: oauth.clientID, nonce: nonce,
                    accessToken: grant.accessToken),
                now: time, cryptography: cryptography)
        } catch {
            throw .distrusted(profile, "its ID token is invalid: \(error.reason)")
        }
        try await checkSignature(token, profile, cryptography, now)
        var grant = grant
        grant.rawUser = token.claims
        grant.user = OAuthProfile.user.summary(of: token.claims)
        return grant
    }

    /// Returns if one of the server's keys has signed it. Keys roll over: if none of the known keys has signed it, the present
    /// ones are fetched.
    private func checkSignature(
        _ token: IDToken, _ profile: ProviderProfile, _ cryptography: any Cryptography, _ now: Moment
    ) async throws(ProviderFailure) {
        let server = try await server(of: profile, at: now)
        guard let place = server.endpoints.keys else {
            throw .distrusted(profile, "it publishes no keys")
        }
        if let known = await servers.entry(of: place, .keys, at: now.boot), known.isFresh,
            await Self.isSigned(token, known.document, server.tenants, cryptography)
        {
            return
        }
        let keys = try await keys(at: place, of: profile, now: now)
        guard await Self.isSigned(token, keys, server.tenants, cryptography) else {
            throw .distrusted(profile, "its ID token is signed by none of its keys")
        }
    }

    private static func isSigned(
        _ token: IDToken, _ keys: JSON, _ tenants: TenantIssuer?, _ cryptography: any Cryptography
    ) async -> Bool {
        for key in token.keys(in: keys, of: tenants) where await cryptography.isSigned(token.text, by: key) {
            return true
        }
        return false
    }
}

extension ProviderFailure {
    fileprivate static func distrusted(_ profile: ProviderProfile, _ reason: String) -> ProviderFailure {
        .refused(
            AgentError(
                .badReply, "The response of \(profile.title) cannot be accepted: \(reason).", cause: "id_token",
                retryable: false))
    }
}
