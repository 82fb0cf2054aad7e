import AuthModel
import AuthWire

/// What is asked of authorization servers.
extension ProviderClient {
    /// Asks the token endpoint.
    func token(
        of profile: ProviderProfile, as client: OAuthClient, purpose: ErrorDecoder.Purpose, sentAt: Moment,
        _ request: (OAuthRequests) throws(AgentError) -> HTTPRequest
    ) async -> Result<Grant, ProviderFailure> {
        await ask(profile, client, at: sentAt, request) { _, reply in
            TokenResponse(profile: profile, purpose: purpose, sentAt: sentAt.wall, isBound: client.proofKey != nil)
                .read(reply)
        }
    }

    /// Has the server make a code for a person to type (RFC 8628 §3.1).
    func beginDevice(
        at profile: ProviderProfile, as client: OAuthClient, sentAt: Moment
    ) async -> Result<DeviceAuthorization, ProviderFailure> {
        await ask(profile, client, at: sentAt) { requests throws(AgentError) in
            try requests.deviceAuthorization()
        } read: { errors, reply in
            let body = ResponseBody(reply)
            guard reply.status == 200 else { return .failure(errors.failure(reply, body)) }
            do throws(MetadataError) {
                return .success(try DeviceAuthorization(body.json ?? .null))
            } catch {
                return .failure(errors.badReply(error.reason, cause: "device", status: reply.status))
            }
        }
    }

    /// Gives a request for authorization to the server before the browser does (RFC 9126 §2).
    /// - Returns: the name by which the browser speaks of it.
    func push(
        _ attempt: AuthorizationAttempt, at profile: ProviderProfile, as client: OAuthClient, sentAt: Moment
    ) async -> Result<String, ProviderFailure> {
        await ask(profile, client, at: sentAt) { requests throws(AgentError) in
            try requests.pushed(attempt)
        } read: { errors, reply in
            let body = ResponseBody(reply)
            guard reply.status == 201 || reply.status == 200 else { return .failure(errors.failure(reply, body)) }
            guard let name = body.json?["request_uri"]?.stringValue, ProviderText.clean(name) == name else {
                return .failure(errors.badReply("it has no request_uri", cause: "par", status: reply.status))
            }
            return .success(name)
        }
    }

    /// Renews by the refresh token, or as a service by the client's own secret.
    /// - Parameter aim: what the new token is for; `nil`: what the session's own is for.
    func renewOAuth(
        _ record: SessionRecord, at profile: ProviderProfile, for target: TokenTarget? = nil, sentAt: Moment
    ) async -> Result<Grant, ProviderFailure> {
        func refresh(_ scopes: [String]) async -> Result<Grant, ProviderFailure> {
            await token(of: profile, as: OAuthClient(record), purpose: .renewal, sentAt: sentAt) {
                requests throws(AgentError) in
                if let target, target.audience != nil, profile.oauth?.audienceBy == .exchange {
                    return try requests.exchange(record.tokens.accessToken, for: target)
                }
                if let refreshToken = record.tokens.refreshToken {
                    return try requests.refresh(refreshToken, for: target, scopes: scopes)
                }
                guard profile.flow(of: record) == .service else { throw .cannotRenew(record.provider) }
                return try requests.clientCredentials(for: target)
            }
        }
        // A token for an aim may have narrowed the refresh token: all that was granted is requested back.
        let back = target == nil && record.tokens.isSuspect ? record.tokens.scopes?.granted ?? [] : []
        var answer = await refresh(back)
        if !back.isEmpty {
            if case .failure(let failure) = answer, failure.error.cause == "invalid_scope" {
                answer = await refresh([])
            } else {
                // Without scopes, a response grants those that were requested (RFC 6749 §5.1).
                answer = answer.map { grant in
                    var grant = grant
                    grant.scopes = grant.scopes ?? back
                    return grant
                }
            }
        }
        if let target, target.audience != nil, profile.oauth?.audienceBy == .exchange {
            // What may come with it is not the session's.
            return answer.map { grant in
                var grant = grant
                grant.refreshToken = nil
                return grant
            }
        }
        // Its signature is not asked about: it came over the connection that the tokens came over (§3.1.3.7, 6).
        guard case .success(let grant) = answer,
            let subject = grant.idToken.flatMap({ JWTClaims.texts(of: $0)["sub"] }),
            let known = record.rawUser?["sub"]?.stringValue, subject != known
        else { return answer }
        return .failure(
            .temporary(
                AgentError(
                    .badReply, "\(profile.title) returned tokens of another user (OpenID Connect Core §12.2).",
                    cause: "other_user"), retryAfter: nil))
    }

    /// Takes both tokens back (RFC 7009 §2.1), the refresh token first: with it the session is over.
    /// - Returns: why the tokens may still be good; `nil` when they are not.
    func revoke(_ record: SessionRecord, at profile: ProviderProfile, sentAt: Moment) async -> ProviderFailure? {
        switch await server(of: profile, at: sentAt) {
        case .success(let server) where server.endpoints.revocation == nil:
            return .refused(
                AgentError(
                    .unsupported,
                    "\(profile.title) offers no revocation (RFC 7009), so the tokens may be good there until they end.",
                    cause: "no_revocation"))
        case .success: break
        case .failure(let failure): return failure
        }
        var kept: [(name: String, why: AgentError)] = []
        for (token, kind, name) in [
            (record.tokens.refreshToken, "refresh_token", "the refresh token"),
            (record.tokens.accessToken, "access_token", "the access token"),
        ] {
            guard let token else { continue }
            let result: Result<Void, ProviderFailure> = await ask(
                profile, OAuthClient(record), at: sentAt, purpose: .user
            ) {
                requests throws(AgentError) in
                try requests.revocation(of: token, kind)
            } read: { errors, reply in
                let answer = errors.failure(reply, ResponseBody(reply))
                // A server may take one kind of token only (§2.2.1).
                let isDone = reply.status == 200 || answer.error.cause == "unsupported_token_type"
                return isDone ? .success(()) : .failure(answer)
            }
            if case .failure(let why) = result { kept.append((name, why.error)) }
        }
        guard var error = kept.first?.why else { return nil }
        error.message = "\(kept.map(\.name).joined(separator: " and ")) may still be good there. \(error.message)"
        return .refused(error)
    }

    /// Where a person ends the session of their browser too (OpenID Connect RP-Initiated Logout 1.0 §2).
    func signOutPage(_ record: SessionRecord, at now: Moment) async -> String? {
        guard let profile = profile(of: record), let oauth = profile.oauth,
            profile.flow(of: record) == .browser, case .success(let server) = await server(of: profile, at: now),
            let page = server.endpoints.endSession
        else { return nil }
        let fields =
            [FormField("client_id", oauth.clientID)]
            + (record.rawUser?["sub"]?.stringValue.map { [FormField("logout_hint", $0)] } ?? [])
        return page + (page.contains("?") ? "&" : "?") + Form.encode(fields)
    }

    /// The claims about the user (OpenID Connect Core 1.0 §5.3); `nil` where the server has no place for them.
    func userInfo(
        _ record: SessionRecord, at profile: ProviderProfile, sentAt: Moment
    ) async -> Result<(raw: JSON, summary: UserSummary), ProviderFailure>? {
        if case .success(let server) = await server(of: profile, at: sentAt), server.endpoints.userInfo == nil {
            return nil
        }
        return await ask(profile, OAuthClient(record), at: sentAt, purpose: .user) { requests throws(AgentError) in
            try requests.userInfo(record.tokens.accessToken)
        } read: { errors, reply in
            let body = ResponseBody(reply)
            guard reply.status == 200 else { return .failure(errors.failure(reply, body)) }
            guard case .json(let claims) = body, case .object = claims else {
                return .failure(errors.badReply("it has no user", cause: "no_user", status: reply.status))
            }
            return .success((claims, profile.user.summary(of: claims)))
        }
    }

    func ask<Answer>(
        _ profile: ProviderProfile, _ client: OAuthClient, at now: Moment, purpose: ErrorDecoder.Purpose = .signIn,
        _ request: (OAuthRequests) throws(AgentError) -> HTTPRequest,
        read: (ErrorDecoder, HTTPResponse) -> Result<Answer, ProviderFailure>
    ) async -> Result<Answer, ProviderFailure> {
        guard let oauth = profile.oauth else { return .failure(.refused(.noOAuth(profile))) }
        let server: OAuthServer
        switch await self.server(of: profile, at: now) {
        case .success(let found): server = found
        case .failure(let failure): return .failure(failure)
        }
        let place = server.endpoints.token ?? ""
        var requests = OAuthRequests(
            profile: profile, oauth: oauth, server: server, client: client, cryptography: signer.cryptography,
            now: await signer.time(at: place), namesClientInForm: await servers.requiresClientInForm(place))
        var profileForErrors = profile
        profileForErrors.errors = TokenResponse.errors
        let errors = ErrorDecoder(profile: profileForErrors, purpose: purpose, sentAt: now.wall)
        var isSecond = false
        while true {
            let made = requests
            let answer: Result<Answer, ProviderFailure> = await send { () throws(AgentError) in
                let ready = try request(made)
                // A form has the client's own credentials in it besides a token; a GET has the access token alone.
                let uses: TokenOrigins.Uses = ready.method == "GET" ? .accessToken : .all
                try client.originGuard?.check(uses, at: ready.url, issuer: server.issuer)
                return ready
            } read: {
                read(errors, $0)
            }
            if isSecond, case .success = answer { await servers.recordClientInForm(place) }
            // RFC 6749 §2.3.1 has the client's name in the header alone, and some servers look for it in the form first.
            guard oauth.clientAuthentication == .basic, !requests.namesClientInForm,
                case .failure(let failure) = answer,
                ["invalid_client", "invalid_request", "unauthorized_client"].contains(failure.error.cause)
            else { return answer }
            requests.namesClientInForm = true
            isSecond = true
        }
    }
}

extension ProviderProfile {
    /// The way by which a session was signed in; `nil` for one that is no longer in the profile, or not of OAuth.
    func flow(of record: SessionRecord) -> OAuthFlow? { signIn.first { $0.name == record.method }?.flow }

    /// Whether anything renews this session: a refresh token, or the client itself.
    func renewsByOAuth(_ record: SessionRecord) -> Bool {
        record.tokens.refreshToken?.isEmpty == false || (flow(of: record) == .service && record.clientSecret != nil)
    }
}

extension AgentError {
    static func noOAuth(_ profile: ProviderProfile) -> AgentError {
        AgentError(.unsupported, "\(profile.title) does not speak OAuth, as its profile stands.")
    }
}
