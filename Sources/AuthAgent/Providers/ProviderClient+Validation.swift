import AuthMachines
import AuthModel
import AuthWire

/// Whether the provider accepts a token.
extension ProviderClient {
    /// Queries UserInfo or, if that is not for this session, introspection (RFC 7662).
    /// - Returns: `nil` if the server has neither for us.
    /// - Throws: ``ProviderFailure/rejectsToken`` if it does not accept the token.
    func validateOAuth(
        _ record: SessionRecord, at profile: ProviderProfile, sentAt: Moment
    ) async throws(ProviderFailure) -> Grant? {
        do throws(ProviderFailure) {
            if let user = try await userInfo(record, at: profile, sentAt: sentAt) {
                return grant(of: user, record, sentAt)
            }
        } catch {
            // Without `openid` UserInfo is closed to it, which says nothing about the token (OpenID Connect Core §5.3).
            guard error.error.httpStatus == 403, !error.rejectsToken else { throw error }
        }
        guard try await server(of: profile, at: sentAt).endpoints.introspection != nil else { return nil }
        return try await introspect(record, at: profile, sentAt: sentAt)
    }

    private func introspect(
        _ record: SessionRecord, at profile: ProviderProfile, sentAt: Moment
    ) async throws(ProviderFailure) -> Grant? {
        let isActive: Bool
        do throws(ProviderFailure) {
            isActive = try await ask(profile, OAuthClient(record), at: sentAt, purpose: .account) {
                requests throws(AgentError) in
                try requests.introspection(of: record.tokens.accessToken)
            } read: { errors, reply throws(ProviderFailure) in
                guard let isActive = try errors.json(of: reply)?["active"]?.boolValue else {
                    throw errors.badReply("it has no \"active\"", cause: "introspection", status: reply.status)
                }
                return isActive
            }
        } catch {
            // Not every client may introspect (RFC 7662 §2.1): that is a refusal of the client, not of the token.
            if case .refused(let error) = error, let status = error.httpStatus, (400..<500).contains(status) {
                return nil
            }
            throw error
        }
        guard isActive else {
            throw .refused(
                AgentError(
                    .refused, "\(profile.title) says that the access token is not active.",
                    cause: TokenChallenge.invalidToken, httpStatus: 401))
        }
        return Grant(issuedAt: sentAt.wall)
    }

    /// Claims about another user say nothing about this one (OpenID Connect Core 1.0 §5.3.2).
    private func grant(of user: SignedInUser, _ record: SessionRecord, _ sentAt: Moment) -> Grant {
        var grant = Grant(issuedAt: sentAt.wall)
        if let known = record.rawUser?["sub"]?.stringValue, user.raw["sub"]?.stringValue != known { return grant }
        grant.user = user.summary
        grant.rawUser = user.raw
        return grant
    }
}
