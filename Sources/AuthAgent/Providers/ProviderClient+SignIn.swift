package import AuthModel
import AuthWire

/// Sign-in, codes, passwords and other requests of users.
extension ProviderClient {
    package func signIn(
        _ method: SignInMethod, at profile: ProviderProfile, environment: String, fields: [String: Secret],
        sentAt: Moment
    ) async throws(ProviderFailure) -> Grant {
        if let first = method.first {
            let reply = try await send(
                try profile.request(first, of: method, environment: environment, fields: fields))
            if let grant = try profile.readFirst(reply, method: method, sentAt: sentAt.wall).get() { return grant }
        }
        let reply = try await send(
            try profile.signInRequest(method: method, environment: environment, fields: fields))
        return try profile.readSignIn(reply, method: method, sentAt: sentAt.wall).get()
    }

    /// Has the provider send what the user is to answer.
    /// - Returns: the provider's message about that.
    package func send(
        _ challenge: Challenge, of method: SignInMethod, at profile: ProviderProfile, environment: String,
        fields: [String: Secret], sentAt: Moment
    ) async throws(ProviderFailure) -> String? {
        let reply = try await send(
            try profile.challengeRequest(challenge, of: method, environment: environment, fields: fields))
        return try profile.readMessage(reply, sentAt: sentAt.wall).get()
    }

    /// A request without a session that is not a sign-in, such as one for a reset.
    /// - Returns: the provider's message about it.
    package func ask(
        _ method: SignInMethod, at profile: ProviderProfile, environment: String, fields: [String: Secret],
        sentAt: Moment
    ) async throws(ProviderFailure) -> String? {
        let reply = try await send(
            try profile.signInRequest(method: method, environment: environment, fields: fields))
        return try profile.readMessage(reply, sentAt: sentAt.wall).get()
    }

    /// Changes something about the account with its session's token.
    /// - Returns: the provider's message about it.
    package func perform(
        _ method: SignInMethod, _ record: SessionRecord, fields: [String: Secret], sentAt: Moment
    ) async throws(ProviderFailure) -> String? {
        let profile = try knownProfile(of: record)
        let reply = try await send(
            try profile.accountRequest(method: method, record: record, fields: fields), for: record, at: profile)
        return try profile.readMessage(reply, sentAt: sentAt.wall).get()
    }
}
