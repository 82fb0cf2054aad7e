import AuthMachines
import AuthModel
import AuthWire

/// The requests to authorization servers.
extension ProviderClient {
    /// Sends a request to the token endpoint.
    func token(
        of profile: ProviderProfile, as client: OAuthClient, purpose: ErrorDecoder.Purpose, sentAt: Moment,
        _ request: (OAuthRequests) throws(AgentError) -> HTTPRequest
    ) async throws(ProviderFailure) -> Grant {
        let response = TokenResponse(
            profile: profile, purpose: purpose, sentAt: sentAt.wall, isBound: client.proofKey != nil)
        return try await ask(profile, client, at: sentAt, request) { _, reply throws(ProviderFailure) in
            try response.read(reply)
        }
    }

    /// Requests a code for the user to type (RFC 8628 §3.1).
    func beginDevice(
        at profile: ProviderProfile, as client: OAuthClient, sentAt: Moment
    ) async throws(ProviderFailure) -> DeviceAuthorization {
        try await ask(profile, client, at: sentAt) { requests throws(AgentError) in
            try requests.deviceAuthorization()
        } read: { errors, reply throws(ProviderFailure) in
            let response = TokenResponse(profile: profile, purpose: .signIn, sentAt: sentAt.wall)
            let json = try errors.json(of: response.normalized(reply))
            do throws(MetadataError) {
                return try DeviceAuthorization(json ?? .null)
            } catch {
                throw errors.badReply(error.reason, cause: "device", status: reply.status)
            }
        }
    }

    /// Seconds. §2.2 expects 5 to 600; nobody opens the address after an hour.
    private static let pushedLifetimes = 1.0...3600.0

    /// Sends an authorization request to the server before the browser does (RFC 9126 §2).
    /// - Returns: the name by which the browser refers to it, and its lifetime, if the user has to know it.
    func push(
        _ attempt: AuthorizationAttempt, at profile: ProviderProfile, as client: OAuthClient, sentAt: Moment
    ) async throws(ProviderFailure) -> (name: String, lifetime: Duration?) {
        try await ask(profile, client, at: sentAt) { requests throws(AgentError) in
            try requests.pushed(attempt)
        } read: { errors, reply throws(ProviderFailure) in
            let json = try errors.json(of: reply, [200, 201])
            guard let name = json?["request_uri"]?.stringValue, ProviderText.clean(name) == name else {
                throw errors.badReply("it has no request_uri", cause: "par", status: reply.status)
            }
            let lifetime = json?["expires_in"]?.doubleValue.flatMap { Self.pushedLifetimes.contains($0) ? $0 : nil }
            return (name, lifetime.map { .seconds($0) })
        }
    }

    /// Renews with the refresh token, or as a service with the client's own secret.
    /// - Parameter target: of the new token; `nil`: that of the session's own token.
    func renewOAuth(
        _ record: SessionRecord, at profile: ProviderProfile, for target: TokenTarget? = nil, sentAt: Moment
    ) async throws(ProviderFailure) -> Grant {
        let isExchange = target?.audience != nil && profile.oauth?.audienceBy == .exchange
        func refresh(_ scopes: [String]) async throws(ProviderFailure) -> Grant {
            try await token(of: profile, as: OAuthClient(record), purpose: .renewal, sentAt: sentAt) {
                requests throws(AgentError) in
                if let target, isExchange {
                    return try requests.exchange(record.tokens.accessToken, for: target).closingConnection()
                }
                if let refreshToken = record.tokens.refreshToken {
                    return try requests.refresh(refreshToken, for: target, scopes: scopes).closingConnection()
                }
                guard profile.flow(of: record) == .service else { throw .cannotRenew(record.provider) }
                return try requests.clientCredentials(for: target).closingConnection()
            }
        }
        // A targeted token may have narrowed the refresh token: all that was granted is requested back.
        let back = target == nil && record.tokens.isSuspect ? record.tokens.scopes?.granted ?? [] : []
        var grant: Grant
        do throws(ProviderFailure) {
            grant = try await refresh(back)
            // Without scopes, a response grants those that were requested (RFC 6749 §5.1).
            if !back.isEmpty { grant.scopes = grant.scopes ?? back }
        } catch {
            guard !back.isEmpty, error.error.cause == "invalid_scope" else { throw error }
            grant = try await refresh([])
        }
        if isExchange {
            // A refresh token that comes with it is not the session's.
            grant.refreshToken = nil
            return grant
        }
        // Its signature is not checked: it came over the same connection as the tokens (§3.1.3.7, 6). The user of
        // [user_request] may have a `sub` of another kind.
        if profile.userRequest == nil, let subject = grant.idToken.flatMap({ JWTClaims.texts(of: $0)["sub"] }),
            let known = record.rawUser?["sub"]?.stringValue, subject != known
        {
            throw .temporary(
                AgentError(
                    .badReply, "\(profile.title) returned tokens of another user (OpenID Connect Core §12.2).",
                    cause: "other_user"), retryAfter: nil)
        }
        return grant
    }

    /// Revokes both tokens (RFC 7009 §2.1), the refresh token first: without it the session is over.
    /// - Throws: why the tokens may still be valid.
    func revoke(_ record: SessionRecord, at profile: ProviderProfile, sentAt: Moment) async throws(ProviderFailure) {
        guard try await server(of: profile, at: sentAt).endpoints.revocation != nil else {
            throw .refused(
                AgentError(
                    .unsupported,
                    "\(profile.title) offers no revocation (RFC 7009), so the tokens may be valid there until they expire.",
                    cause: "no_revocation"))
        }
        var kept: [(name: String, reason: AgentError)] = []
        for (token, kind, name) in [
            (record.tokens.refreshToken, "refresh_token", "the refresh token"),
            (record.tokens.accessToken, "access_token", "the access token"),
        ] {
            guard let token else { continue }
            do throws(ProviderFailure) {
                try await ask(profile, OAuthClient(record), at: sentAt, purpose: .user) {
                    requests throws(AgentError) in
                    try requests.revocation(of: token, kind)
                } read: { errors, reply throws(ProviderFailure) in
                    guard reply.status != 200 else { return }
                    let failure = errors.failure(reply, ResponseBody(reply))
                    // A server may accept only one kind of token (§2.2.1).
                    if failure.error.cause != "unsupported_token_type" { throw failure }
                }
            } catch {
                kept.append((name, error.error))
            }
        }
        guard var error = kept.first?.reason else { return }
        error.message = "\(kept.map(\.name).joined(separator: " and ")) may still be valid there. \(error.message)"
        throw .refused(error)
    }

    /// Where the user ends the session of the browser too (OpenID Connect RP-Initiated Logout 1.0 §2).
    func signOutPage(_ record: SessionRecord, at now: Moment) async -> String? {
        guard let profile = profile(of: record), let oauth = profile.oauth,
            profile.flow(of: record) == .browser,
            let page = try? await server(of: profile, at: now).endpoints.endSession
        else { return nil }
        let fields =
            [FormField("client_id", oauth.clientID)]
            + (record.rawUser?["sub"]?.stringValue.map { [FormField("logout_hint", $0)] } ?? [])
        return page + (page.contains("?") ? "&" : "?") + Form.encode(fields)
    }

    /// The claims about the user (OpenID Connect Core 1.0 §5.3); `nil` if the server has no endpoint for them.
    func userInfo(
        _ record: SessionRecord, at profile: ProviderProfile, sentAt: Moment
    ) async throws(ProviderFailure) -> SignedInUser? {
        guard try await server(of: profile, at: sentAt).endpoints.userInfo != nil else { return nil }
        return try await ask(profile, OAuthClient(record), at: sentAt, purpose: .user) { requests throws(AgentError) in
            try requests.userInfo(record.tokens.accessToken)
        } read: { errors, reply throws(ProviderFailure) in
            guard let claims = try errors.json(of: reply), case .object = claims else {
                throw errors.badReply("it has no user", cause: "no_user", status: reply.status)
            }
            return (claims, profile.user.summary(of: claims))
        }
    }

    func ask<Answer>(
        _ profile: ProviderProfile, _ client: OAuthClient, at now: Moment, purpose: ErrorDecoder.Purpose = .signIn,
        _ request: (OAuthRequests) throws(AgentError) -> HTTPRequest,
        read: (ErrorDecoder, HTTPResponse) throws(ProviderFailure) -> Answer
    ) async throws(ProviderFailure) -> Answer {
        let server = try await server(of: profile, at: now)
        guard let oauth = profile.oauth else { throw .refused(.noOAuth(profile)) }
        let place = server.endpoints.token ?? ""
        var requests = OAuthRequests(
            profile: profile, oauth: oauth, server: server, client: client, cryptography: signer.cryptography,
            now: await signer.time(at: place), namesClientInForm: await servers.requiresClientInForm(place))
        func ready() throws(AgentError) -> HTTPRequest {
            let ready = try request(requests)
            // A form contains the client's credentials besides a token; a GET contains the access token alone.
            let uses: TokenOrigins.Uses = ready.method == "GET" ? .accessToken : .all
            try client.originGuard?.check(uses, at: ready.url, issuer: server.issuer)
            return ready
        }
        let errors = ErrorDecoder(oauth: profile, purpose: purpose, sentAt: now)
        do throws(ProviderFailure) {
            return try read(errors, try await send(try ready()))
        } catch {
            // RFC 6749 §2.3.1 has the client's name in the header only, and some servers look for it in the form first.
            guard oauth.clientAuthentication == .basic, !requests.namesClientInForm,
                ["invalid_client", "invalid_request", "unauthorized_client"].contains(error.error.cause)
            else { throw error }
        }
        requests.namesClientInForm = true
        let answer = try read(errors, try await send(try ready()))
        await servers.recordClientInForm(place)
        return answer
    }
}

extension ProviderProfile {
    /// The flow that a session was signed in with; `nil` if it is no longer in the profile, or not OAuth's.
    func flow(of record: SessionRecord) -> OAuthFlow? { signIn.first { $0.name == record.method }?.flow }

    /// Whether anything renews this session: a refresh token, or the client itself.
    func renewsByOAuth(_ record: SessionRecord) -> Bool {
        record.tokens.refreshToken?.isEmpty == false || (flow(of: record) == .service && record.clientSecret != nil)
    }
}

extension AgentError {
    static func noOAuth(_ profile: ProviderProfile) -> AgentError {
        AgentError(.unsupported, "The profile of \(profile.title) does not use OAuth.")
    }
}
