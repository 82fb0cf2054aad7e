import AuthModel
import AuthWire

/// The user who signed in, as the ID token says, which the authorization server has signed.
extension ProviderClient {
    /// A grant with the user that its ID token tells, if all that has to be true of the token is.
    /// - Parameter nonce: what was sent along; `nil` where nothing could be, as in the device grant.
    func identified(
        _ grant: Grant, at profile: ProviderProfile, nonce: String?, cryptography: any Cryptography, now: Moment
    ) async -> Result<Grant, ProviderFailure> {
        guard let oauth = profile.oauth, let issuer = oauth.issuer, oauth.scopes.contains("openid") else {
            return .success(grant)
        }
        guard let text = grant.idToken else {
            // Only the device grant, which is no part of OpenID Connect, may do without.
            return nonce == nil ? .success(grant) : .failure(.distrusted(profile, "there is no ID token in it"))
        }
        // Its dates are by the clock of the place that it came from.
        let endpoint = (try? await server(of: profile, at: now).get())?.endpoints.token
        let time = await signer.time(at: endpoint ?? issuer)
        do throws(IDTokenError) {
            let token = try IDToken(text)
            try token.check(
                IDToken.Expectation(
                    issuer: issuer, clientID: oauth.clientID, nonce: nonce, accessToken: grant.accessToken),
                now: time, cryptography: cryptography)
            if let failure = await checkSignature(token, profile, cryptography, now) { return .failure(failure) }
            var grant = grant
            grant.rawUser = token.claims
            grant.user = OAuthProfile.user.summary(of: token.claims)
            return .success(grant)
        } catch {
            return .failure(.distrusted(profile, "its ID token cannot be believed: \(error.reason)"))
        }
    }

    /// - Returns: `nil` when one of the server's keys has signed it. Keys roll over: with those that are known only an
    ///   answer of yes is final, a no asks for the server's present ones.
    private func checkSignature(
        _ token: IDToken, _ profile: ProviderProfile, _ cryptography: any Cryptography, _ now: Moment
    ) async -> ProviderFailure? {
        let server: OAuthServer
        switch await self.server(of: profile, at: now) {
        case .success(let found): server = found
        case .failure(let failure): return failure
        }
        guard let place = server.endpoints.keys else { return .distrusted(profile, "it tells no keys") }
        if let known = await servers.entry(of: place, .keys, at: now.boot), known.isFresh,
            await Self.isSigned(token, known.document, cryptography)
        {
            return nil
        }
        switch await document(at: place, .keys, of: profile, now: now) {
        case .success(let keys):
            let isSigned = await Self.isSigned(token, keys, cryptography)
            return isSigned ? nil : .distrusted(profile, "its ID token is signed by none of its keys")
        case .failure(let failure): return failure
        }
    }

    private static func isSigned(_ token: IDToken, _ keys: JSON, _ cryptography: any Cryptography) async -> Bool {
        for key in token.keys(in: keys) where await cryptography.isSigned(token.text, by: key) { return true }
        return false
    }
}

extension ProviderFailure {
    fileprivate static func distrusted(_ profile: ProviderProfile, _ reason: String) -> ProviderFailure {
        .refused(
            AgentError(
                .badReply, "The answer of \(profile.title) is not believed: \(reason).", cause: "id_token",
                retryable: false))
    }
}
