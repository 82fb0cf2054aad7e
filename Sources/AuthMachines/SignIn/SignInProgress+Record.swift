package import AuthModel
package import AuthWire

extension SignInProgress {
    /// The record of the session that this sign-in began.
    /// - Parameter former: what was known of the session before.
    package func record(from grant: Grant, former: SessionStatus?, now: Moment) throws(AgentError) -> SessionRecord {
        guard let token = grant.accessToken else {
            throw AgentError(.badReply, "The provider said yes and gave no token.")
        }
        return SessionRecord(
            session: session, provider: profile.name, environment: environment, method: method.name,
            tokens: TokenSet(
                accessToken: token, tokenType: grant.tokenType ?? "Bearer", refreshToken: grant.refreshToken,
                issuedAt: grant.issuedAt, expiresAt: grant.expiresAt,
                refreshLife: grant.refreshEndsAt.map { TokenLife(issuedAt: grant.issuedAt, expiresAt: $0) },
                proofKey: method.flow == nil ? nil : proofKey, scopes: scopes(grant)),
            user: grant.user, rawUser: grant.rawUser, userReceivedAt: grant.user.map { _ in grant.issuedAt },
            needsPassword: needsPassword(grant, former), signedInAt: now.wall, signIn: .random(),
            remembered: remembers ? fields : nil,
            clientSecret: method.flow == nil || registration != nil ? nil : client.secret,
            client: method.flow == nil ? nil : registration)
    }

    /// A response without scopes grants those that were requested (RFC 6749 §5.1); `import` requests none.
    private func scopes(_ grant: Grant) -> TokenScopes? {
        guard let flow = method.flow, let oauth = profile.oauth else { return nil }
        if let granted = grant.scopes { return TokenScopes(granted: granted) }
        return flow == .importing || oauth.scopes.isEmpty ? nil : TokenScopes(granted: oauth.scopes)
    }

    /// The provider's word, then the profile's; who signs in by a password has one; else what was known stays.
    private func needsPassword(_ grant: Grant, _ former: SessionStatus?) -> Bool {
        if let told = grant.needsPassword ?? method.needsPassword { return told }
        if method.fields.contains(where: { [FieldKind.password, FieldKind.newPassword].contains($0.kind) }) {
            return false
        }
        guard let former, former.user?.id == grant.user?.id else { return false }
        return former.needsPassword
    }

    /// The step that the stage is for a client.
    package func step(at now: Moment) -> Step? {
        if case .away(let journey, let endsAt) = stage {
            var step = Step(login: id, kind: .browser)
            switch journey {
            case .browser(let trip):
                step.url = trip.url
                step.redirectScheme = trip.scheme
                step.certificateSHA256 = trip.fingerprint
            case .device(let device):
                step.kind = .device
                step.verificationURI = device.verificationURI
                step.verificationURIComplete = device.completeURI
                step.userCode = device.userCode
            }
            step.expiresAt = now.date(of: endsAt).unixSeconds
            return step
        }
        guard case .asking(let question) = stage else { return nil }
        var step = Step(
            login: id, kind: question.url == nil ? .fields : .browser, fields: question.fields,
            message: question.message, url: question.url, error: question.error)
        if let sent, accountChange == nil {
            step.sentTo = sent.place
            step.expiresAt = sent.endsAt.map { now.date(of: $0).unixSeconds }
            step.resendAt = now.date(of: sent.againAt).unixSeconds
        }
        return step
    }
}
