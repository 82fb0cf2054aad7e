import AuthWire

/// What is asked of authorization servers.
extension ProviderCalls {
    /// The server of a profile: as discovered, or as the profile has it.
    package func server(of profile: ProviderProfile, at now: Moment) async -> Result<OAuthServer, ProviderFailure> {
        guard let oauth = profile.oauth else { return .failure(.refused(.noOAuth(profile))) }
        guard let issuer = oauth.issuer else {
            return .success(OAuthServer(issuer: nil, endpoints: oauth.endpoints))
        }
        let known = await servers.entry(of: issuer, at: now.boot)
        if let known, known.isFresh { return Self.read(known.metadata, profile, oauth) }
        var failure: ProviderFailure?
        for place in OAuthServer.places(of: issuer) {
            var age: Duration?
            let found: Result<JSON, ProviderFailure> = await send { () throws(AgentError) in
                HTTPRequest(method: "GET", url: place, headers: [HTTPField("Accept", "application/json")])
            } read: { reply in
                age = CacheControl(reply).maxAge
                return Self.metadata(reply, profile)
            }
            switch found {
            case .success(let metadata):
                let server = Self.read(metadata, profile, oauth)
                if case .success = server { await servers.keep(metadata, of: issuer, for: age, at: now.boot) }
                return server
            case .failure(let why):
                failure = failure ?? why
                // Somebody who has no such document may have the other one.
                guard why.error.httpStatus.map({ (400..<500).contains($0) && $0 != 429 }) ?? false else { break }
                continue
            }
            break
        }
        if let known { return Self.read(known.metadata, profile, oauth) }
        return .failure(failure ?? .refused(.noOAuth(profile)))
    }

    private static func metadata(_ reply: HTTPReply, _ profile: ProviderProfile) -> Result<JSON, ProviderFailure> {
        let errors = ErrorReader(profile: profile, purpose: .call, sentAt: nil)
        let body = ReplyBody(reply)
        guard reply.status == 200 else { return .failure(errors.failure(reply, body)) }
        guard case .json(let json) = body, case .object = json else {
            return .failure(errors.badReply("it is no metadata", cause: "no_metadata", status: reply.status))
        }
        return .success(json)
    }

    private static func read(
        _ metadata: JSON, _ profile: ProviderProfile, _ oauth: OAuthProfile
    ) -> Result<OAuthServer, ProviderFailure> {
        do throws(MetadataError) {
            return .success(
                try OAuthServer(metadata: metadata, of: oauth, mayBeInsecure: profile.allowInsecureHTTP))
        } catch {
            return .failure(
                .temporary(
                    AgentError(
                        .badReply, "What \(profile.title) says of itself cannot be used: \(error.reason).",
                        cause: "metadata"), retryAfter: nil))
        }
    }

    // MARK: Tokens

    /// Asks the token endpoint.
    func token(
        of profile: ProviderProfile, clientSecret: Secret?, purpose: ErrorReader.Purpose, sentAt: Moment,
        _ request: (OAuthRequests) throws(AgentError) -> HTTPRequest
    ) async -> Result<Grant, ProviderFailure> {
        await ask(profile, clientSecret, at: sentAt, request) { _, reply in
            TokenAnswer(profile: profile, purpose: purpose, sentAt: sentAt.wall).read(reply)
        }
    }

    /// Has the server make a code for a person to type (RFC 8628 §3.1).
    func beginDevice(
        at profile: ProviderProfile, clientSecret: Secret?, sentAt: Moment
    ) async -> Result<DeviceAuthorization, ProviderFailure> {
        await ask(profile, clientSecret, at: sentAt) { requests throws(AgentError) in
            try requests.deviceAuthorization()
        } read: { errors, reply in
            let body = ReplyBody(reply)
            guard reply.status == 200 else { return .failure(errors.failure(reply, body)) }
            do throws(MetadataError) {
                return .success(try DeviceAuthorization(body.json ?? .null))
            } catch {
                return .failure(errors.badReply(error.reason, cause: "device", status: reply.status))
            }
        }
    }

    /// Renews by the refresh token, or as a service by the client's own secret.
    func renewOAuth(
        _ record: SessionRecord, at profile: ProviderProfile, sentAt: Moment
    ) async -> Result<Grant, ProviderFailure> {
        await token(of: profile, clientSecret: record.clientSecret, purpose: .renewal, sentAt: sentAt) {
            requests throws(AgentError) in
            if let refreshToken = record.tokens.refreshToken { return try requests.refresh(refreshToken) }
            guard profile.flow(of: record) == .service else { throw .cannotRenew(record.provider) }
            return try requests.clientCredentials()
        }
    }

    /// The claims about the user (OpenID Connect Core 1.0 §5.3); `nil` where the server has no place for them.
    func userInfo(
        _ accessToken: Secret, at profile: ProviderProfile, sentAt: Moment
    ) async -> Result<(raw: JSON, summary: UserSummary), ProviderFailure>? {
        if case .success(let server) = await server(of: profile, at: sentAt), server.endpoints.userInfo == nil {
            return nil
        }
        return await ask(profile, nil, at: sentAt, purpose: .user) { requests throws(AgentError) in
            try requests.userInfo(accessToken)
        } read: { errors, reply in
            let body = ReplyBody(reply)
            guard reply.status == 200 else { return .failure(errors.failure(reply, body)) }
            guard case .json(let claims) = body, case .object = claims else {
                return .failure(errors.badReply("it holds no user", cause: "no_user", status: reply.status))
            }
            return .success((claims, profile.user.summary(of: claims)))
        }
    }

    private func ask<Answer>(
        _ profile: ProviderProfile, _ clientSecret: Secret?, at now: Moment, purpose: ErrorReader.Purpose = .signIn,
        _ request: (OAuthRequests) throws(AgentError) -> HTTPRequest,
        read: (ErrorReader, HTTPReply) -> Result<Answer, ProviderFailure>
    ) async -> Result<Answer, ProviderFailure> {
        guard let oauth = profile.oauth else { return .failure(.refused(.noOAuth(profile))) }
        let server: OAuthServer
        switch await self.server(of: profile, at: now) {
        case .success(let found): server = found
        case .failure(let failure): return .failure(failure)
        }
        let requests = OAuthRequests(profile: profile, oauth: oauth, server: server, clientSecret: clientSecret)
        var spoken = profile
        spoken.errors = TokenAnswer.errors
        let errors = ErrorReader(profile: spoken, purpose: purpose, sentAt: now.wall)
        return await send { () throws(AgentError) in
            try request(requests)
        } read: {
            read(errors, $0)
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
    fileprivate static func noOAuth(_ profile: ProviderProfile) -> AgentError {
        AgentError(.unsupported, "\(profile.title) does not speak OAuth, as its profile stands.")
    }
}
