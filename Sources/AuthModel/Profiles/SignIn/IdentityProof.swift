package import AuthWire

/// Another provider where users prove their identity: its ID token is the answer to a field of a sign-in.
package struct IdentityProof: Sendable {
    /// The field for the ID token.
    package let field: String
    /// A profile of OpenID Connect.
    package let profile: ProviderProfile

    /// - Returns: `nil` if no provider of the catalog issues what the method accepts: the user then enters a token.
    package init?(for method: SignInMethod, in catalog: ProfileCatalog) {
        guard method.challenge == nil,
            let field = method.fields.first(where: { $0.kind == FieldKind.idToken && !$0.optional })
        else { return nil }
        var issuers: [String] = []
        for case .idToken(let named) in method.rules[field.name] ?? [] { issuers += named }
        guard let profile = catalog.list.first(where: { $0.issuesIDTokens(of: issuers) }) else { return nil }
        self.field = field.name
        self.profile = profile
    }

    /// The fields that identify the client, not the user, to that provider.
    package var fields: [StepField] { profile.oauth?.clientFields ?? [] }
}

extension ProviderProfile {
    fileprivate func issuesIDTokens(of issuers: [String]) -> Bool {
        guard let oauth, let issuer = oauth.issuer, oauth.scopes.contains("openid") else { return false }
        return issuers.contains(issuer)
    }
}
