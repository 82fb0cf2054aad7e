package import AuthModel
package import AuthWire

/// Where this agent sends its user's browser for a sign-in of another agent: always to a provider in this agent's
/// profiles, with scopes that the settings allow.
package struct LendOffer: Sendable, Equatable {
    /// With the scopes that are requested.
    package let profile: ProviderProfile
    package let oauth: OAuthProfile
    /// Whether a device code is requested (RFC 8628), instead of a code for the browser.
    package let isDevice: Bool
    /// What the other machine calls itself.
    package let host: String
    /// What the terminal of the other machine shows.
    private let code: String?

    /// For the user.
    package var question: RemoteSignIn {
        RemoteSignIn(
            host: host, provider: profile.title, server: oauth.issuer ?? oauth.endpoints.authorization ?? "",
            scopes: oauth.scopes, isDevice: isDevice, code: code)
    }

    /// - Parameters:
    ///   - rules: those of the listener.
    ///   - catalog: this agent's profiles.
    /// - Throws: why the browser is not lent.
    package init(
        _ call: LoginLend, by rules: ListenerRules, at listener: ListenerName, in catalog: ProfileCatalog
    ) throws(AgentError) {
        let table = "[listener.\(listener.boundary.rawValue)] in authd.toml"
        // A provider that is not listed gets the error of one that does not exist.
        let allowed = catalog.list.filter { rules.signInProviders.contains($0.name) && $0.resource == nil }
        let known = allowed.filter { $0.oauth.map { Self.isServer($0, of: call) } ?? false }
        let server = (call.issuer ?? call.authorizationEndpoint ?? "").quotable
        guard !known.isEmpty else {
            throw AgentError(
                .unknownProvider,
                "No provider in sign_in_providers of \(table) is at \(server): add the name of its profile there.",
                cause: "sign_in_provider")
        }
        guard let profile = known.first(where: { $0.oauth?.clientID == call.clientID && $0.oauth?.registers == false }),
            var oauth = profile.oauth
        else {
            throw AgentError(
                .conflict,
                "The two machines sign in at \(server) as different clients: use the same client_id in both profiles.",
                cause: AgentError.otherClient)
        }
        let scopes = try Self.scopes(call.scopes, of: oauth, by: rules, table)
        oauth.scopes = scopes
        var narrowed = profile
        narrowed.oauth = oauth
        (self.profile, self.oauth, isDevice, host) = (narrowed, oauth, call.device, call.host)
        code = call.comparisonCode
    }

    private static func isServer(_ oauth: OAuthProfile, of call: LoginLend) -> Bool {
        if let issuer = call.issuer { return oauth.issuer?.utf8.elementsEqual(issuer.utf8) == true }
        guard oauth.issuer == nil, let own = oauth.endpoints.authorization else { return false }
        return call.authorizationEndpoint?.utf8.elementsEqual(own.utf8) == true
    }

    /// Without scopes in a request, the provider grants its usual ones, which may be more than is allowed. So the
    /// allowed ones are requested instead, if the settings list any.
    private static func scopes(
        _ wanted: [String], of oauth: OAuthProfile, by rules: ListenerRules, _ table: String
    ) throws(AgentError) -> [String] {
        let allowed = rules.signInScopes?.sorted() ?? oauth.scopes
        let wanted = Set(wanted.isEmpty ? oauth.scopes : wanted)
        // With the bytes of this machine's scopes: equal strings may have different bytes.
        var taken: Set<String> = []
        let scopes = wanted.isEmpty ? allowed : allowed.filter { wanted.contains($0) && taken.insert($0).inserted }
        guard !scopes.isEmpty || (wanted.isEmpty && rules.signInScopes == nil) else {
            throw AgentError(
                .denied,
                rules.signInScopes == nil
                    ? "The profile on the machine with the browser requests none of these scopes."
                    : "None of the scopes is in sign_in_scopes of \(table).",
                cause: "sign_in_scopes")
        }
        return scopes
    }
}

extension AgentError {
    /// The cause if two machines sign in as different clients.
    package static let otherClient = "other_client"
}
