import AuthModel
import AuthWire

/// The OAuth clients that authd uses for sign-ins with a lent browser.
struct LentClients {
    let context: AgentContext
    let registry: SessionRegistry

    func client(of profile: ProviderProfile) async throws(AgentError) -> OAuthClient {
        OAuthClient(secret: try await secret(of: profile))
    }

    /// The secret of the client, from a session at the provider. A public client has none.
    /// - Throws: `conflict` if these sessions were signed in at other origins: their secret must not be sent to the
    ///   current ones.
    private func secret(of profile: ProviderProfile) async throws(AgentError) -> Secret? {
        guard profile.oauth?.clientAuthentication != ClientAuthentication.none else { return nil }
        var isElsewhere = false
        for session in registry.all {
            let record = await session.record
            guard record.provider == profile.name, record.client == nil, let secret = record.clientSecret else {
                continue
            }
            let present = try await converting(
                ProviderFailure.self,
                try await context.providers.origins(of: profile, in: record.environment, at: context.clock.now()))
            if let present, let known = record.origins, known.change(to: present) == nil,
                profile.namedCodeEndpoints.allSatisfy({ known.allows(.all, at: $0) })
            {
                return secret
            }
            isElsewhere = true
        }
        if isElsewhere { throw .secretIsForOthers(profile) }
        return nil
    }
}

extension ProviderProfile {
    /// The endpoints where a client authenticates before it has a token, if the profile names them. Discovered ones
    /// belong to the issuer.
    fileprivate var namedCodeEndpoints: [Origin] {
        [oauth?.endpoints.deviceAuthorization, oauth?.endpoints.pushedAuthorization]
            .compactMap { $0.flatMap { Origin(of: $0) } }
    }
}

extension AgentError {
    fileprivate static func secretIsForOthers(_ profile: ProviderProfile) -> AgentError {
        AgentError(
            .conflict,
            "The client secret of \(profile.title) on the machine with the browser is for addresses other than those "
                + "in its profile: sign in there again.", cause: originChangedCause)
    }
}
