package import AuthModel
import AuthWire

/// Sign-in, codes, passwords and other requests of users.
extension ProviderClient {
    /// Sends one request of a sign-in.
    package func send(
        _ part: SignInPart, of method: SignInMethod, at profile: ProviderProfile, _ values: SignInValues,
        cookies: CookieJar, sentAt: Moment
    ) async throws(ProviderFailure) -> SignInResponse {
        let (reply, cookies) = try await send(with: cookies, at: profile, sentAt: sentAt) { () throws(AgentError) in
            try profile.request(part, of: method, values)
        }
        var response = try profile.read(reply, to: part, of: method, values, sentAt: sentAt.wall)
        response.cookies = cookies
        return response
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
            try profile.accountRequest(method: method, record: record, fields: fields), for: record, at: profile,
            sentAt: sentAt)
        return try profile.readMessage(reply, sentAt: sentAt.wall).get()
    }
}
