import AuthMachines
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
                .closingConnection(if: part == .own && profile.userRequest == nil)
        }
        var response = try profile.read(reply, to: part, of: method, values, sentAt: sentAt.wall)
        response.cookies = cookies
        return response
    }

    /// Makes the remembered sign-in, with the requests before its own. It begins without cookies, like that of a user: a server
    /// may not show its sign-in to a client with a session.
    func signInAgain(
        _ method: SignInMethod, _ values: SignInValues, for record: SessionRecord, at profile: ProviderProfile,
        sentAt: Moment
    ) async throws(ProviderFailure) -> Grant {
        var (steps, record, values) = (SignInSteps(), record, values)
        record.tokens.cookies = CookieJar()
        while true {
            let part = steps.next(for: .own, of: method)
            do throws(AgentError) {
                try steps.countRequest(at: profile.title)
            } catch {
                throw .temporary(error, retryAfter: nil)
            }
            let (reply, cookies) = try await exchange(
                try profile.request(part, of: method, values).closingConnection(if: part == .own), for: record,
                at: profile, sentAt: sentAt)
            let response = try profile.read(
                reply, to: part, of: method, values, purpose: .renewal, sentAt: sentAt.wall)
            if var grant = response.grant {
                grant = profile.withoutSameToken(grant, record)
                if profile.keepsCookies { grant.cookies = cookies }
                return grant
            }
            record.tokens.cookies = cookies
            steps.keep(response.captured)
            steps.beforeAnswered()
            values.captured = steps.captured
        }
    }

    /// A request without a session that is not a sign-in, such as one for a reset.
    /// - Returns: the provider's message about it.
    package func ask(
        _ method: SignInMethod, at profile: ProviderProfile, environment: String, fields: [String: Secret],
        sentAt: Moment
    ) async throws(ProviderFailure) -> String? {
        let reply = try await send(
            try profile.signInRequest(method: method, environment: environment, fields: fields))
        return try profile.readMessage(reply, sentAt: sentAt.wall)
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
        return try profile.readMessage(reply, sentAt: sentAt.wall)
    }
}
