package import AuthWire

/// A browser that an agent lends to the sign-in of another one (Docs/decisions/remote-sign-in.md).
extension AuthorizationAttempt {
    /// What the agent with the browser gets: everything that is made for this attempt, except for the verifier.
    package var lend: LoginLend {
        var call = LoginLend(
            issuer: issuer, authorizationEndpoint: issuer == nil ? endpoint : nil, clientID: clientID, scopes: scopes)
        (call.codeChallenge, call.state) = (values.challenge, values.state)
        (call.nonce, call.proofThumbprint) = (values.nonce, values.thumbprint)
        return call
    }

    /// The attempt of another agent, at this agent's own provider.
    /// - Parameter oauth: with the scopes that the other agent may have.
    /// - Throws: `unsupported` if the server has no such endpoint or does not support S256.
    package init(
        lending call: LoginLend, profile: ProviderProfile, oauth: OAuthProfile, server: OAuthServer,
        redirectURI: String
    ) throws(AgentError) {
        let values = Values(
            challenge: call.codeChallenge ?? "", state: call.state ?? "", nonce: call.nonce,
            thumbprint: call.proofThumbprint)
        try self.init(
            profile: profile, oauth: oauth, server: server, redirectURI: redirectURI, verifier: Secret(""),
            values: values)
    }
}
