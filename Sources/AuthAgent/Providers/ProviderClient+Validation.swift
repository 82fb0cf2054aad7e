import AuthModel
import AuthWire

/// Whether a token is good, in the provider's own words.
extension ProviderClient {
    /// Queries UserInfo or, where that is not for this session, introspection (RFC 7662).
    /// - Returns: `nil` if the server has neither for us. ``ProviderFailure/rejectsToken`` if it does not accept the token.
    func validateOAuth(
        _ record: SessionRecord, at profile: ProviderProfile, sentAt: Moment
    ) async -> Result<Grant, ProviderFailure>? {
        let server: OAuthServer
        switch await self.server(of: profile, at: sentAt) {
        case .success(let found): server = found
        case .failure(let failure): return .failure(failure)
        }
        if server.endpoints.userInfo != nil {
            switch await userInfo(record, at: profile, sentAt: sentAt) {
            case .success(let user): return .success(grant(of: user, record, sentAt))
            // Without `openid` UserInfo is closed to it, which says nothing about the token (OpenID Connect Core §5.3).
            case .failure(let failure) where failure.error.httpStatus == 403 && !failure.rejectsToken: break
            case .failure(let failure): return .failure(failure)
            case nil: break
            }
        }
        guard server.endpoints.introspection != nil else { return nil }
        return await introspect(record, at: profile, sentAt: sentAt)
    }

    private func introspect(
        _ record: SessionRecord, at profile: ProviderProfile, sentAt: Moment
    ) async -> Result<Grant, ProviderFailure>? {
        let answer: Result<Bool, ProviderFailure> = await ask(
            profile, OAuthClient(record), at: sentAt, purpose: .account
        ) { requests throws(AgentError) in
            try requests.introspection(of: record.tokens.accessToken)
        } read: { errors, reply in
            let body = ResponseBody(reply)
            guard reply.status == 200 else { return .failure(errors.failure(reply, body)) }
            guard let isActive = body.json?["active"]?.boolValue else {
                return .failure(errors.badReply("it has no \"active\"", cause: "introspection", status: reply.status))
            }
            return .success(isActive)
        }
        switch answer {
        case .success(true): return .success(Grant(issuedAt: sentAt.wall))
        case .success(false):
            return .failure(
                .refused(
                    AgentError(
                        .refused, "\(profile.title) says that the access token is not active.",
                        cause: TokenChallenge.invalidToken, httpStatus: 401)))
        // Not every client may introspect (RFC 7662 §2.1): that is a refusal of the client, not of the token.
        case .failure(.refused(let error)) where error.httpStatus.map({ (400..<500).contains($0) }) ?? false: return nil
        case .failure(let failure): return .failure(failure)
        }
    }

    /// What is said of another user is not about this one (OpenID Connect Core 1.0 §5.3.2).
    private func grant(
        of user: (raw: JSON, summary: UserSummary), _ record: SessionRecord, _ sentAt: Moment
    ) -> Grant {
        var grant = Grant(issuedAt: sentAt.wall)
        if let known = record.rawUser?["sub"]?.stringValue, user.raw["sub"]?.stringValue != known { return grant }
        grant.user = user.summary
        grant.rawUser = user.raw
        return grant
    }
}
