package import AuthMachines
package import AuthModel
package import AuthWire
internal import Synchronization

/// Sends requests to providers, as their profiles describe them.
package final class ProviderClient: Sendable {
    private let current: Mutex<CurrentProfiles>
    private let transport: any HTTPTransport
    /// The profiles that were generated so far, by name. They are few: each belongs to a resource that a user signed in to.
    private let generated = Mutex<[String: ProviderProfile]>([:])
    let servers = ServerMetadataCache()
    let signer: ProofSigner

    /// For a renewal that other hosts must not make at the same time: asked before each request, and notified of
    /// errors. It is not a parameter: a renewal sends from a dozen functions, which sign-ins use, too. One that did not
    /// pass it on would send without the check.
    @TaskLocal static var held: HeldRequests?

    package init(profiles: ProfileCatalog, transport: any HTTPTransport, signer: ProofSigner) {
        current = Mutex(CurrentProfiles(profiles))
        self.transport = transport
        self.signer = signer
    }

    // MARK: Profiles

    /// The profiles as last loaded. A reload replaces all of them at once.
    package var profiles: ProfileCatalog {
        get { current.withLock { $0.catalog } }
        set { current.withLock { $0.replace(with: newValue) } }
    }

    /// The present profile of a session, with the client that its provider knows.
    func profile(of record: SessionRecord) -> ProviderProfile? {
        let profile = record.resource.map(generate) ?? profiles[record.provider]
        return profile?.serving(record)
    }

    /// The profile of that name: read from a file, or generated for the URL of a session.
    package func profile(named name: String) -> ProviderProfile? {
        profiles[name] ?? generated.withLock { $0[name] }
    }

    private func generate(_ resource: ProtectedResource) -> ProviderProfile {
        generated.withLock { generated in
            if let known = generated[resource.url], known.resource == resource { return known }
            let profile = ProviderProfile(resource)
            generated[resource.url] = profile
            return profile
        }
    }

    /// The profile of a session and what is computed from it, once for all sessions that share it.
    /// - Returns: `nil` if there is no profile, or if it is not shared.
    private func shared(_ record: SessionRecord) -> SharedProfile? {
        guard let key = SharedProfile.Key(record) else { return nil }
        if let known = current.withLock({ $0.shared[key] }) { return known }
        let (catalog, version) = current.withLock { ($0.catalog, $0.version) }
        guard let profile = catalog[record.provider]?.serving(record) else { return nil }
        let shared = SharedProfile(
            profile, probe: probe(profile, record.environment), origins: profile.origins(in: record.environment))
        current.withLock { $0.share(shared, as: key, of: version) }
        return shared
    }

    /// Whether the provider is asked if this session's token is valid.
    func validates(_ record: SessionRecord) -> Bool {
        (shared(record)?.profile.renewal ?? profile(of: record)?.renewal)?.kind == .validate
    }

    /// What the profile itself names, without a request.
    func namedOrigins(of record: SessionRecord) -> TokenOrigins? {
        if let shared = shared(record) { return shared.origins }
        return profile(of: record)?.origins(in: record.environment)
    }

    /// Whether anything renews this session, by its present profile.
    package func canRenew(_ record: SessionRecord) -> Bool { means(of: record) != .none }

    /// What renews this session, by its present profile.
    package func means(of record: SessionRecord) -> RenewalMeans {
        if let shared = shared(record) {
            return shared.profile.means(of: record, renewsByToken: shared.renewsByToken)
        }
        // The session may be renewed when the profile is there again: only a provider ends a session.
        guard let profile = profile(of: record) else { return .lasting }
        return profile.means(of: record, renewsByToken: profile.renewsByToken)
    }

    /// Whether two hosts may renew the session without knowledge of each other: a renewal replaces nothing that the other one
    /// has.
    func mayRenewApart(_ record: SessionRecord) -> Bool {
        guard means(of: record) == .lasting else { return false }
        return record.tokens.refreshToken == nil || record.tokens.keepsRefreshToken
    }

    /// Whether the state of the network matters to this session's provider: not if the provider is on this machine.
    package func needsNetwork(_ record: SessionRecord) -> Bool {
        probe(record)?.origin.isLoopback != true
    }

    /// The same for the status of a session.
    func needsNetwork(_ status: SessionStatus) -> Bool {
        guard let profile = profile(named: status.provider), let environment = status.environment else { return true }
        return needsNetwork(profile, in: environment)
    }

    func needsNetwork(_ profile: ProviderProfile, in environment: String) -> Bool {
        probe(profile, environment)?.origin.isLoopback != true
    }

    /// A request to this session's provider without credentials; `nil` if the session has no profile.
    package func probe(_ record: SessionRecord) -> Probe? {
        if let shared = shared(record) { return shared.probe }
        return profile(of: record).flatMap { probe($0, record.environment) }
    }

    private func probe(_ profile: ProviderProfile, _ name: String) -> Probe? {
        guard let environment = profile.environments.first(where: { $0.name == name }),
            let origin = environment.origin
        else { return nil }
        // Anyone may read the metadata of a server.
        if let issuer = profile.oauth?.issuer, let place = OAuthServer.places(of: issuer).first,
            let origin = Origin(of: issuer)
        {
            return Probe(origin, path: String(Origin.path(of: place)))
        }
        // The request for the user: it is answered with JSON, even if only with a 401.
        let request = profile.userRequest?.request ?? profile.validation
        let path = request.flatMap { $0.method == "GET" ? $0.path.fill(TemplateValues(standIn: "", for: [])) : nil }
        let base = String(Origin.path(of: environment.baseURL))
        return Probe(origin, path: path.map { base + $0 })
    }

    /// Where a session's access token belongs; empty if its profile or environment is gone, or leads elsewhere now.
    func tokenOrigins(_ record: SessionRecord) -> [Origin] {
        guard let profile = profile(of: record), let named = profile.origins(in: record.environment) else { return [] }
        return Origin.all(of: addresses(of: profile, in: record.environment)).filter { origin in
            named.allows(.accessToken, at: origin) && record.origins?.allows(.accessToken, at: origin) ?? true
        }.sorted { $0.text < $1.text }
    }

    /// The environment's own address, and those of the profile's hosts.
    private func addresses(of profile: ProviderProfile, in name: String) -> [String] {
        guard let environment = profile.environments.first(where: { $0.name == name }) else { return [] }
        return [environment.baseURL] + profile.hosts.compactMap { try? profile.address(of: $0.name, in: environment) }
    }

    /// Where requests with this session's secrets go, and where responses with them come from, as far as that is known.
    func origins(of status: SessionStatus) async -> Set<Origin> {
        guard let profile = profile(named: status.provider) else { return [] }
        var urls = addresses(of: profile, in: status.environment ?? "")
        // Its ID tokens may come from another provider.
        let authorities = profile.signIn.compactMap { IdentityProof(for: $0, in: profiles)?.profile }
        for oauth in ([profile] + authorities).compactMap(\.oauth) {
            urls += OAuthEndpoints.names.compactMap { oauth.endpoints[keyPath: $0.path] }
            guard let issuer = oauth.issuer else { continue }
            urls.append(issuer)
            // It does not matter here whether the metadata is fresh.
            let metadata = await servers.entry(of: issuer, .metadata, at: BootInstant(sinceBoot: .zero))?.document
            urls += OAuthEndpoints.names.compactMap { metadata?[$0.name]?.stringValue }
        }
        return Origin.all(of: urls)
    }

    // MARK: Requests

    package func renew(_ record: SessionRecord, sentAt: Moment) async throws(ProviderFailure) -> Grant {
        let profile = try knownProfile(of: record)
        if profile.oauth != nil { return try await renewOAuth(record, at: profile, sentAt: sentAt) }
        let repeated = try? profile.repeatedSignIn(record)
        do throws(ProviderFailure) {
            // Neither a token that has ended nor a missing refresh token renews anything.
            let isLive = !profile.renewsByToken || record.tokens.expiresAt.map { sentAt.wall < $0 } ?? true
            if repeated == nil || (isLive && (try? profile.renewalRequest(record)) != nil) {
                let (reply, cookies) = try await exchange(
                    try profile.renewalRequest(record)?.closingConnection(), for: record, at: profile, sentAt: sentAt)
                var grant = try profile.readRenewal(reply, record: record, sentAt: sentAt.wall)
                if profile.keepsCookies { grant.cookies = cookies }
                return grant
            }
        } catch {
            guard repeated != nil, case .final = error else { throw error }
        }
        guard let repeated else { throw .temporary(.cannotRenew(record.provider), retryAfter: nil) }
        return try await signInAgain(repeated.method, repeated.values, for: record, at: profile, sentAt: sentAt)
    }

    /// A token for a separate target.
    package func obtain(
        _ target: TokenTarget, _ record: SessionRecord, sentAt: Moment
    ) async throws(ProviderFailure) -> Grant {
        guard let profile = profile(of: record), profile.oauth != nil else {
            throw .refused(.notOAuth(record.provider))
        }
        return try await renewOAuth(record, at: profile, for: target, sentAt: sentAt)
    }

    /// - Returns: `nil` if the provider has no request for it.
    package func validate(_ record: SessionRecord, sentAt: Moment) async throws(ProviderFailure) -> Grant? {
        guard let profile = profile(of: record) else { return nil }
        if profile.oauth != nil { return try await validateOAuth(record, at: profile, sentAt: sentAt) }
        guard profile.validation != nil else { return nil }
        let reply = try await send(try profile.validationRequest(record), for: record, at: profile, sentAt: sentAt)
        return try profile.readValidation(reply, record: record, sentAt: sentAt.wall)
    }

    package func fetchUser(_ record: SessionRecord, sentAt: Moment) async throws(ProviderFailure) -> SignedInUser {
        if let profile = profile(of: record) {
            if profile.userRequest != nil {
                let reply = try await send(
                    try profile.userRequest(record), for: record, at: profile, sentAt: sentAt)
                return try profile.readUser(reply)
            }
            if profile.oauth != nil, let user = try await userInfo(record, at: profile, sentAt: sentAt) { return user }
        }
        throw .refused(.noUserRequest(record.provider, "fetches its user"))
    }

    /// - Returns: `nil` if the response does not contain all of the user.
    package func updateUser(
        _ record: SessionRecord, _ changes: JSONObject, sentAt: Moment
    ) async throws(ProviderFailure) -> SignedInUser? {
        guard let profile = profile(of: record), profile.userUpdate != nil else {
            throw .refused(.noUserRequest(record.provider, "changes its user"))
        }
        let reply = try await send(
            try profile.userUpdateRequest(record, changes: changes), for: record, at: profile, sentAt: sentAt)
        return try profile.readUserUpdate(reply)
    }

    /// Reports a sign-out to the provider, if it has a request for that.
    package func signOut(_ record: SessionRecord, sentAt: Moment) async throws(ProviderFailure) {
        // If this token is revoked, a server may also revoke the refresh token of the other session (RFC 7009 §2.1).
        guard let profile = profile(of: record), record.resource?.sharedSession == nil else { return }
        if profile.oauth != nil { return try await revoke(record, at: profile, sentAt: sentAt) }
        guard profile.signOut != nil else { return }
        let reply = try await send(try profile.signOutRequest(record), for: record, at: profile, sentAt: sentAt)
        if let failure = profile.readSignOut(reply, sentAt: sentAt.wall) { throw failure }
    }

    func knownProfile(of record: SessionRecord) throws(ProviderFailure) -> ProviderProfile {
        guard let profile = profile(of: record) else {
            throw .temporary(.unknownProvider(record.provider), retryAfter: nil)
        }
        return profile
    }

    // MARK: Sending

    /// Sends a request that contains a session's tokens, credentials or cookies.
    func send(
        _ request: @autoclosure () throws(AgentError) -> HTTPRequest?, for record: SessionRecord,
        at profile: ProviderProfile, sentAt: Moment
    ) async throws(ProviderFailure) -> HTTPResponse {
        try await exchange(try request(), for: record, at: profile, sentAt: sentAt).reply
    }

    /// - Returns: the response, and the session's cookies after it.
    func exchange(
        _ request: @autoclosure () throws(AgentError) -> HTTPRequest?, for record: SessionRecord,
        at profile: ProviderProfile, sentAt: Moment
    ) async throws(ProviderFailure) -> (reply: HTTPResponse, cookies: CookieJar) {
        try await send(with: record.tokens.cookies, at: profile, sentAt: sentAt) { () throws(AgentError) in
            guard let request = try request() else { throw .cannotRenew(record.provider) }
            try OriginGuard(record).check(request.carries, at: request.url)
            return request
        }
    }

    /// Sends a request with the cookies for its address, if the profile keeps any.
    /// - Returns: the response, and the cookies after it.
    func send(
        with cookies: CookieJar, at profile: ProviderProfile, sentAt: Moment,
        _ build: () throws(AgentError) -> HTTPRequest
    ) async throws(ProviderFailure) -> (reply: HTTPResponse, cookies: CookieJar) {
        var cookies = profile.keepsCookies ? cookies : CookieJar()
        var url = ""
        func request() throws(AgentError) -> HTTPRequest {
            var request = try build()
            cookies.add(to: &request, at: sentAt.wall)
            url = request.url
            return request
        }
        let reply = try await send(try request())
        if profile.keepsCookies { cookies.store(reply, from: url, sentAt: sentAt.wall) }
        return (reply, cookies)
    }

    /// - Parameter request: evaluated again if the provider wants the same request with another proof.
    func send(
        _ request: @autoclosure () throws(AgentError) -> HTTPRequest
    ) async throws(ProviderFailure) -> HTTPResponse {
        var isRepeated = false
        while true {
            let ready: HTTPRequest
            do throws(AgentError) {
                ready = try await signer.proven(try request())
            } catch {
                throw .temporary(error, retryAfter: nil)
            }
            if let held = Self.held {
                guard await held.mayBegin() else { throw .temporary(.holdLost, retryAfter: nil) }
                held.began(ready)
            }
            do throws(TransportError) {
                let reply = try await transport.send(ready)
                guard signer.recordNonce(of: reply, to: ready), !isRepeated else { return reply }
                isRepeated = true
            } catch {
                Self.held?.failed(ready, error)
                // The next attempt uses a new connection: this one may be dead without a sign of it.
                await transport.closeIdleConnections(to: Origin.all(of: [ready.url]))
                throw ProviderFailure(error)
            }
        }
    }
}

extension ErrorDecoder {
    /// For the endpoints of an authorization server.
    init(oauth profile: ProviderProfile, purpose: Purpose, sentAt: Moment) {
        var profileForErrors = profile
        profileForErrors.errors = TokenResponse.errors
        self.init(profile: profileForErrors, purpose: purpose, sentAt: sentAt.wall)
    }

    /// The JSON of a response with one of these statuses; `nil` if its body is something else.
    func json(of reply: HTTPResponse, _ statuses: Set<Int> = [200]) throws(ProviderFailure) -> JSON? {
        let body = ResponseBody(reply)
        guard statuses.contains(reply.status) else { throw failure(reply, body) }
        return body.json
    }
}

extension AgentError {
    /// Another host may renew the session by now: nothing more was sent.
    static let holdLost = AgentError(StoreError.cluster(.leaseLost))

    static func noTargetedTokens(_ profile: ProviderProfile) -> AgentError {
        AgentError(
            .unsupported,
            "The profile of \(profile.title) has `targeted_tokens = false`: use the session's own token, without a scope "
                + "or audience.", cause: "targeted_tokens")
    }

    static func notOAuth(_ provider: String) -> AgentError {
        AgentError(.unsupported, "\(provider) has one token for everything: it is not an OAuth provider.")
    }

    fileprivate static func noUserRequest(_ provider: String, _ what: String) -> AgentError {
        AgentError(.unsupported, "The profile of provider \(provider) has no request that \(what).")
    }
}
