package import AuthMachines
package import AuthModel
package import AuthWire

/// Asks providers, as their profiles say, over the transport.
package struct ProviderClient: Sendable {
    let catalog: CurrentCatalog
    private let transport: any HTTPTransport
    let servers = ServerMetadataCache()
    let signer: ProofSigner

    package init(catalog: CurrentCatalog, transport: any HTTPTransport, signer: ProofSigner) {
        self.catalog = catalog
        self.transport = transport
        self.signer = signer
    }

    /// As it stands now, and as its provider knows us.
    func profile(of record: SessionRecord) -> ProviderProfile? {
        catalog.profiles[record.provider]?.known(as: record.client)
    }

    /// Whether anything renews this session, as its profile stands now.
    package func canRenew(_ record: SessionRecord) -> Bool {
        // Without its profile, or with one that makes no request now, it may be renewed when that is mended: the tries
        // will tell, and only a provider ends a session.
        guard let profile = profile(of: record) else { return true }
        if profile.oauth != nil { return profile.renewsByOAuth(record) }
        do throws(AgentError) {
            return try profile.renewalRequest(record) != nil
        } catch {
            return true
        }
    }

    /// What renews this session, as its profile stands now.
    package func means(of record: SessionRecord) -> RenewalMeans {
        guard canRenew(record) else { return .none }
        guard let profile = profile(of: record) else { return .lasting }
        return profile.renewsByToken && !repeatsSignIn(of: record, profile) ? .liveToken : .lasting
    }

    private func repeatsSignIn(of record: SessionRecord, _ profile: ProviderProfile) -> Bool {
        // Answers that no longer fit the profile are of no use.
        (try? profile.repeatedSignInRequest(record)) != nil
    }

    /// Whether what the network is like says anything about this session's provider: not if that is on this machine.
    package func needsNetwork(_ record: SessionRecord) -> Bool {
        probe(record)?.origin.isLoopback != true
    }

    /// The same of a session as others see it.
    func needsNetwork(_ status: SessionStatus) -> Bool {
        guard let profile = catalog.profiles[status.provider], let environment = status.environment else { return true }
        return probe(profile, environment)?.origin.isLoopback != true
    }

    /// What asks for this session's provider without credentials; `nil` when its profile is gone.
    package func probe(_ record: SessionRecord) -> Probe? {
        profile(of: record).flatMap { probe($0, record.environment) }
    }

    private func probe(_ profile: ProviderProfile, _ name: String) -> Probe? {
        guard let environment = profile.environments.first(where: { $0.name == name }),
            let origin = Origin(of: environment.baseURL)
        else { return nil }
        // A server that tells of itself tells it to everybody.
        if let issuer = profile.oauth?.issuer, let place = OAuthServer.places(of: issuer).first,
            let origin = Origin(of: issuer)
        {
            return Probe(origin, path: String(Origin.path(of: place)))
        }
        // The request for the user: known to be answered with JSON, if only with a 401.
        let request = profile.userRequest?.request ?? profile.validation
        let path = request.flatMap { $0.method == "GET" ? $0.path.fill(TemplateValues(standIn: "", for: [])) : nil }
        let base = String(Origin.path(of: environment.baseURL))
        return Probe(origin, path: path.map { base + $0 })
    }

    /// Where a session's access token belongs; empty if its profile or environment is gone, or leads elsewhere now.
    func tokenOrigins(_ record: SessionRecord) -> [Origin] {
        let environment = profile(of: record)?.environments.first { $0.name == record.environment }
        guard let origin = environment.flatMap({ Origin(of: $0.baseURL) }),
            record.origins?.allows(.accessToken, at: origin) ?? true
        else { return [] }
        return [origin]
    }

    /// Where requests with this session's secrets go, and where answers with them come from, as far as that is known.
    func origins(of status: SessionStatus) async -> Set<Origin> {
        guard let profile = catalog.profiles[status.provider] else { return [] }
        var urls = profile.environments.filter { $0.name == status.environment }.map(\.baseURL)
        // Its ID tokens may come from another provider.
        let authorities = profile.signIn.compactMap { IdentityProof(for: $0, in: catalog.profiles)?.profile }
        for oauth in ([profile] + authorities).compactMap(\.oauth) {
            urls += OAuthEndpoints.names.compactMap { oauth.endpoints[keyPath: $0.path] }
            guard let issuer = oauth.issuer else { continue }
            urls.append(issuer)
            // How fresh its word is makes no difference here.
            let metadata = await servers.entry(of: issuer, .metadata, at: BootInstant(sinceBoot: .zero))?.document
            urls += OAuthEndpoints.names.compactMap { metadata?[$0.name]?.stringValue }
        }
        return Origin.all(of: urls)
    }

    package func renew(_ record: SessionRecord, sentAt: Moment) async -> Result<Grant, ProviderFailure> {
        if let profile = profile(of: record), profile.oauth != nil {
            return await renewOAuth(record, at: profile, sentAt: sentAt)
        }
        if let profile = profile(of: record) {
            let hasEnded = record.tokens.expiresAt.map { $0 <= sentAt.wall } ?? false
            if profile.renewsByToken, repeatsSignIn(of: record, profile) {
                // An ended token renews nothing, and one that is refused will not either.
                guard !hasEnded else { return await signInAgain(record, sentAt: sentAt) }
                let result = await renewByRequest(record, sentAt: sentAt)
                guard case .failure(.final) = result else { return result }
                return await signInAgain(record, sentAt: sentAt)
            }
        }
        return await renewByRequest(record, sentAt: sentAt)
    }

    private func renewByRequest(_ record: SessionRecord, sentAt: Moment) async -> Result<Grant, ProviderFailure> {
        await call(record) { profile throws(AgentError) in
            try profile.renewalRequest(record)
        } read: {
            $0.readRenewal($1, record: record, sentAt: sentAt.wall)
        }
    }

    /// With the answers that are remembered.
    private func signInAgain(_ record: SessionRecord, sentAt: Moment) async -> Result<Grant, ProviderFailure> {
        await call(record) { profile throws(AgentError) in
            try profile.repeatedSignInRequest(record)
        } read: {
            $0.readRepeatedSignIn($1, record: record, sentAt: sentAt.wall)
        }
    }

    /// A token for an aim of its own.
    package func obtain(
        _ target: TokenTarget, _ record: SessionRecord, sentAt: Moment
    ) async -> Result<Grant, ProviderFailure> {
        guard let profile = profile(of: record), profile.oauth != nil else {
            return .failure(.refused(.notOAuth(record.provider)))
        }
        return await renewOAuth(record, at: profile, for: target, sentAt: sentAt)
    }

    /// `nil` where the provider has no request for it.
    package func validate(_ record: SessionRecord, sentAt: Moment) async -> Result<Grant, ProviderFailure>? {
        if let profile = profile(of: record), profile.oauth != nil {
            return await validateOAuth(record, at: profile, sentAt: sentAt)
        }
        guard profile(of: record)?.validation != nil else { return nil }
        return await call(record) { profile throws(AgentError) in
            try profile.validationRequest(record)
        } read: {
            $0.readValidation($1, record: record, sentAt: sentAt.wall)
        }
    }

    /// `nil` where the provider has no request for it.
    package func fetchUser(
        _ record: SessionRecord, sentAt: Moment
    ) async -> Result<(raw: JSON, summary: UserSummary), ProviderFailure>? {
        guard let profile = profile(of: record) else { return nil }
        guard profile.userRequest != nil else {
            guard profile.oauth != nil else { return nil }
            return await userInfo(record, at: profile, sentAt: sentAt)
        }
        return await call(record) { profile throws(AgentError) in
            try profile.userRequest(record)
        } read: { profile, reply in
            profile.readUser(reply)
        }
    }

    /// Tells the provider of a sign-out. `nil` where sign-out is local.
    package func signOut(_ record: SessionRecord, sentAt: Moment) async -> ProviderFailure? {
        if let profile = profile(of: record), profile.oauth != nil {
            return await revoke(record, at: profile, sentAt: sentAt)
        }
        guard profile(of: record)?.signOut != nil else { return nil }
        let result: Result<Void, ProviderFailure> = await call(record) { profile throws(AgentError) in
            try profile.signOutRequest(record)
        } read: { profile, reply in
            profile.readAcknowledgement(reply, sentAt: sentAt.wall).map(Result.failure) ?? .success(())
        }
        if case .failure(let failure) = result { return failure }
        return nil
    }

    func call<Answer>(
        _ record: SessionRecord, request: (ProviderProfile) throws(AgentError) -> HTTPRequest?,
        read: (ProviderProfile, HTTPResponse) -> Result<Answer, ProviderFailure>
    ) async -> Result<Answer, ProviderFailure> {
        guard let profile = profile(of: record) else {
            return .failure(.temporary(.unknownProvider(record.provider), retryAfter: nil))
        }
        return await send { () throws(AgentError) in
            guard let request = try request(profile) else { throw .cannotRenew(record.provider) }
            // Without OAuth everything goes to one origin; with it, only what shows the access token goes this way.
            try OriginGuard(record).check(profile.oauth == nil ? .all : .accessToken, at: request.url)
            return request
        } read: {
            read(profile, $0)
        }
    }

    /// - Parameter request: makes it; asked once more where the answer wants the same with another proof.
    func send<Answer>(
        request: () throws(AgentError) -> HTTPRequest, read: (HTTPResponse) -> Result<Answer, ProviderFailure>
    ) async -> Result<Answer, ProviderFailure> {
        var isRepeated = false
        while true {
            let ready: HTTPRequest
            do throws(AgentError) {
                ready = try await signer.proven(try request())
            } catch {
                return .failure(.temporary(error, retryAfter: nil))
            }
            do throws(TransportError) {
                let reply = try await transport.send(ready)
                if signer.heard(reply, to: ready), !isRepeated {
                    isRepeated = true
                    continue
                }
                return read(reply)
            } catch {
                // The next try begins on a connection of its own: this one may be dead without knowing it.
                await transport.closeIdleConnections(to: Origin.all(of: [ready.url]))
                return .failure(ProviderFailure(error))
            }
        }
    }
}

extension AgentError {
    static func noTargetedTokens(_ profile: ProviderProfile) -> AgentError {
        AgentError(
            .unsupported,
            "The profile of \(profile.title) has `targeted_tokens = false`: use the session's own token, without a scope "
                + "or audience.", cause: "targeted_tokens")
    }

    static func notOAuth(_ provider: String) -> AgentError {
        AgentError(.unsupported, "\(provider) has one token for everything: it is no provider of OAuth.")
    }
}
