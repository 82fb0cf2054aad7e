import AuthModel
import AuthWire

/// The session that a sign-in has begun.
extension SignInMachine {
    /// - Parameter former: what was known of the session before.
    func record(from grant: Grant, former: SessionStatus? = nil, at now: Moment) throws(AgentError) -> SessionRecord {
        guard let token = grant.accessToken else {
            throw AgentError(.badReply, "The provider returned success without a token.")
        }
        // Otherwise the tokens are not from an authorization server.
        let hasClient = form.method.flow != nil
        var record = SessionRecord(
            session: session, provider: form.profile.name, environment: form.environment, method: form.method.name,
            tokens: TokenSet(
                accessToken: token, tokenType: grant.tokenType ?? "Bearer", refreshToken: grant.refreshToken,
                issuedAt: grant.issuedAt, expiresAt: grant.expiresAt,
                refreshLife: grant.refreshEndsAt.map { TokenLife(issuedAt: grant.issuedAt, expiresAt: $0) },
                proofKey: hasClient ? proofKey : nil, scopes: form.scopes(of: grant, requested: authority.oauth?.scopes)
            ),
            user: grant.user, rawUser: grant.rawUser, userReceivedAt: grant.user.map { _ in grant.issuedAt },
            needsPassword: form.needsPassword(grant, former), signedInAt: now.wall, signIn: signIn,
            remembered: remembers ? form.fields : nil,
            clientSecret: hasClient && registration == nil ? client.secret : nil,
            client: hasClient ? registration : nil)
        record.tokens.cookies = cookies
        if form.profile.resource != nil { record.resource = authority.resource }
        return record
    }
}

extension SignInForm {
    /// A response without scopes grants those that were requested (RFC 6749 §5.1); `import` requests none.
    fileprivate func scopes(of grant: Grant, requested: [String]?) -> TokenScopes? {
        guard let flow = method.flow, profile.oauth != nil, let requested else { return nil }
        if let granted = grant.scopes { return TokenScopes(granted: granted) }
        return flow == .importing || requested.isEmpty ? nil : TokenScopes(granted: requested)
    }

    /// As the provider says, then as the profile says. A user who signs in with a password has one. Otherwise what was known
    /// stays.
    fileprivate func needsPassword(_ grant: Grant, _ former: SessionStatus?) -> Bool {
        if let known = grant.needsPassword ?? method.needsPassword { return known }
        let hasPassword = method.fields.contains { FieldKind.passwords.contains($0.kind ?? "") }
        if hasPassword || steps.hadPassword { return false }
        guard let former, former.user?.id == grant.user?.id else { return false }
        return former.needsPassword
    }
}
