package import AuthModel
package import AuthWire

/// What people ask of providers: sign-in, codes, passwords, their own account.
extension ProviderClient {
    package func signIn(
        _ method: SignInMethod, at profile: ProviderProfile, environment: String, fields: [String: Secret],
        sentAt: Moment
    ) async -> Result<Grant, ProviderFailure> {
        if let first = method.first {
            let answer: Result<Grant?, ProviderFailure> = await send { () throws(AgentError) in
                try profile.request(first, of: method, environment: environment, fields: fields)
            } read: {
                profile.readFirst($0, method: method, sentAt: sentAt.wall)
            }
            switch answer {
            case .success(let grant?): return .success(grant)
            case .success(nil): break
            case .failure(let failure): return .failure(failure)
            }
        }
        return await send { () throws(AgentError) in
            try profile.signInRequest(method: method, environment: environment, fields: fields)
        } read: {
            profile.readSignIn($0, method: method, sentAt: sentAt.wall)
        }
    }

    /// Has the provider send what a person is to answer.
    /// - Returns: its words about that.
    package func send(
        _ challenge: Challenge, of method: SignInMethod, at profile: ProviderProfile, environment: String,
        fields: [String: Secret], sentAt: Moment
    ) async -> Result<String?, ProviderFailure> {
        return await send { () throws(AgentError) in
            try profile.challengeRequest(challenge, of: method, environment: environment, fields: fields)
        } read: {
            profile.readMessage($0, sentAt: sentAt.wall)
        }
    }

    /// A request without a session that is not a sign-in, such as one for a reset.
    /// - Returns: the provider's words about it.
    package func ask(
        _ method: SignInMethod, at profile: ProviderProfile, environment: String, fields: [String: Secret],
        sentAt: Moment
    ) async -> Result<String?, ProviderFailure> {
        return await send { () throws(AgentError) in
            try profile.signInRequest(method: method, environment: environment, fields: fields)
        } read: {
            profile.readMessage($0, sentAt: sentAt.wall)
        }
    }

    /// Something done about the account with its session's token.
    /// - Returns: the provider's words about it.
    package func perform(
        _ method: SignInMethod, _ record: SessionRecord, fields: [String: Secret], sentAt: Moment
    ) async -> Result<String?, ProviderFailure> {
        await call(record) { profile throws(AgentError) in
            try profile.accountRequest(method: method, record: record, fields: fields)
        } read: { profile, reply in
            profile.readMessage(reply, sentAt: sentAt.wall)
        }
    }

    /// `nil` where the provider has no request for it; a success without a user where its answer does not tell it.
    package func updateUser(
        _ record: SessionRecord, _ changes: JSONObject
    ) async -> Result<(raw: JSON, summary: UserSummary)?, ProviderFailure>? {
        guard profile(of: record)?.userUpdate != nil else { return nil }
        return await call(record) { profile throws(AgentError) in
            try profile.userUpdateRequest(record, changes: changes)
        } read: { profile, reply in
            profile.readUserUpdate(reply)
        }
    }
}
