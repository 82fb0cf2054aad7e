internal import AuthMachines
internal import AuthModel
package import AuthWire
internal import Synchronization

/// Carries out calls of providers' APIs in their sessions' names.
///
/// Invariant: a token is sent to the origin of its session's environment and nowhere else, and only if the session was signed
/// in there; of one call at most two tokens are tried.
package final class APIClient: Sendable {
    let context: AgentContext
    let registry: SessionRegistry
    private let kept: ResponseCache
    private let random: Mutex<SeededRandom>

    /// - Parameter seed: of jitter.
    package init(context: AgentContext, registry: SessionRegistry, kept: ResponseCache, seed: UInt64) {
        self.context = context
        self.registry = registry
        self.kept = kept
        random = Mutex(SeededRandom(seed: seed))
    }

    package func request(_ params: APIRequest) async throws(AgentError) -> APIResponse {
        let (order, session) = try await settled(params)
        return try await answer(order, session).fitting()
    }

    package func call(_ params: APICall) async throws(AgentError) -> APIResponse {
        let (order, session, endpoint) = try await settled(params)
        var response = try await answer(order, session)
        response.page = endpoint.pages?.page(of: response.body, args: params.args)
        return try response.fitting()
    }

    /// - Parameter boundary: of a form; `nil`: one at random.
    func settled(
        _ params: APIRequest, boundary given: String? = nil
    ) async throws(AgentError) -> (PreparedCall, Session) {
        let session = try await registry.session(params.session)
        let (profile, environment) = try place(of: await session.record)
        let order = try PreparedCall(params, profile: profile, environment: environment, boundary: given ?? boundary())
        return (order, session)
    }

    func settled(
        _ params: APICall, boundary given: String? = nil
    ) async throws(AgentError) -> (PreparedCall, Session, Endpoint) {
        let session = try await registry.session(params.session)
        let (profile, environment) = try place(of: await session.record)
        guard let endpoint = profile.endpoints.first(where: { $0.name == params.endpoint }) else {
            throw .unknownEndpoint(params.endpoint, of: profile)
        }
        let order = try PreparedCall(
            params, endpoint: endpoint, profile: profile, environment: environment, boundary: given ?? boundary())
        return (order, session, endpoint)
    }

    // MARK: One call

    private func answer(_ order: PreparedCall, _ session: Session) async throws(AgentError) -> APIResponse {
        let record = await session.record
        // Built once before the token is asked for: an error in it is returned first.
        let request = try order.build(record).request
        let key = ResponseCacheStorage.Key(record, url: request.url)
        guard order.isRead else {
            let received = try await exchange(order, session)
            if order.template.method != "GET" { written(received, order, request) }
            return received.response
        }
        let found = order.cache == .reload ? nil : kept.find(key, for: request)
        if let found, order.cache == .only || found.isFresh(at: context.clock.now().boot) {
            return try told(found, order)
        }
        guard order.cache != .only else {
            throw AgentError(.notFound, "No answer to this is kept; `cache: only` sends nothing.", cause: "not_kept")
        }
        do throws(AgentError) {
            let received = try await exchange(order, session, asking: found?.validators ?? [])
            return try keep(received, found, order, request, key, session)
        } catch {
            guard let found, found.mayBeStale, Self.outOfReach.contains(error.kind ?? .internal_) else { throw error }
            return try told(found, order)
        }
    }

    /// Failures in which no provider had a say.
    private static let outOfReach: Set<ErrorKind> = [.offline, .captivePortal, .providerUnreachable, .timeout]

    // MARK: What is kept

    private func told(_ answer: CachedResponse, _ order: PreparedCall) throws(AgentError) -> APIResponse {
        var response: APIResponse
        switch order.reader(sentAt: nil).read(answer.reply) {
        case .success(let read): response = read
        case .failure(let failure): throw failure.error
        }
        response.fromCache = true
        response.ageMs = Int(answer.age(at: context.clock.now().boot).wholeMilliseconds)
        return response
    }

    private func keep(
        _ received: Received, _ found: CachedResponse?, _ order: PreparedCall, _ request: HTTPRequest,
        _ key: ResponseCacheStorage.Key,
        _ session: Session
    ) throws(AgentError) -> APIResponse {
        let freshFor = order.freshFor(path: key.path)
        if received.reply.status == 304, var found {
            found.confirmed(
                by: received.reply, freshFor: freshFor, sentAt: received.sentAt, receivedAt: received.receivedAt)
            kept.put(found, at: key)
            return try told(found, order)
        }
        let answer = CachedResponse(
            received.reply, to: request, freshFor: freshFor, sentAt: received.sentAt, receivedAt: received.receivedAt)
        // Signed out meanwhile: what is stored now would never be removed.
        if let answer, context.board.status(session.name).map({ $0.state != .signedOut }) ?? false {
            kept.put(answer, at: key)
        }
        return received.response
    }

    func written(_ received: Received, _ order: PreparedCall, _ request: HTTPRequest) {
        let key = received.key
        kept.forget(key, and: order.outdated(path: key.path))
        guard order.rules(for: order.template.method, path: key.path)?.answersAsRead == true,
            let answer = CachedResponse(
                received.reply, to: request, freshFor: order.freshFor(path: key.path), sentAt: received.sentAt,
                receivedAt: received.receivedAt)
        else { return }
        kept.put(answer, at: key)
    }

    // MARK: The wire

    /// Which validity a stream begins with, where the provider's lifetimes allow.
    private static let streamsStart = Duration.seconds(60)

    struct Received {
        /// Under which an answer to the same would be kept.
        let key: ResponseCacheStorage.Key
        let reply: HTTPResponse
        let response: APIResponse
        let sentAt: Moment
        let receivedAt: Moment
    }

    /// Sends with the session's token; a 401 is answered by renewing it once and sending once more.
    func exchange(
        _ order: PreparedCall, _ session: Session, by stream: APIStream? = nil, asking conditions: [HTTPField] = []
    ) async throws(AgentError) -> Received {
        func sent(_ token: String?) async throws(AgentError) -> Result<Received, ProviderFailure> {
            try await send(order, session, by: stream, token: token, conditions)
        }
        guard order.bearer else { return try await sent(nil).mapError(\.error).get() }
        // A body that can be read once only is not begun with a token that ends on the way.
        let token = try await session.token(minValid: stream == nil ? nil : Self.streamsStart).accessToken
        let first = try await sent(token)
        guard case .failure(let failure) = first, failure.rejectsToken else {
            return try received(first, order, session.name)
        }
        try await session.reject(Secret(token))
        guard stream?.mayRepeat ?? true else { throw .bodyIsSpent(failure.error) }
        let renewed = try await session.token(minValid: nil).accessToken
        // It was renewed a moment ago, and refused all the same: another renewal would change nothing.
        guard renewed != token else { return try received(first, order, session.name) }
        return try received(try await sent(renewed), order, session.name)
    }

    private func send(
        _ order: PreparedCall, _ session: Session, by stream: APIStream?, token: String?, _ conditions: [HTTPField]
    ) async throws(AgentError) -> Result<Received, ProviderFailure> {
        var plan = RetryPlan(mayRepeat: order.mayRepeat)
        var isChallenged = false
        while true {
            var record = await session.record
            // Whoever waited for a token may have got that of a new sign-in.
            if let only = order.signIn, only.id != record.signIn { throw only.otherwise }
            // A header of the profile may hold the token: it is the one that is waited for here.
            if let token { record.tokens.accessToken = Secret(token) }
            if order.waits { try await waitForNetwork(record) }
            var request = try order.build(record, with: stream)
            request.headers += conditions
            if token != nil || order.namesTokens { try OriginGuard(record).check(.accessToken, at: request.url) }
            if let token = token.map({ Secret($0) }) {
                if !request.headers.contains(where: { $0.name.lowercased() == "authorization" }) {
                    request.headers.append(.authorization(token, boundTo: record.tokens.proofKey))
                }
                request.prove(token, with: record.tokens.proofKey)
                request = try await context.providers.signer.proven(request)
            }
            let failure: RetryPlan.Failure
            let reason: ProviderFailure
            let sentAt = context.clock.now()
            do throws(TransportError) {
                let reply = try await context.transport.send(request)
                let wantsNonce = context.providers.signer.heard(reply, to: request)
                if wantsNonce, !isChallenged {
                    guard stream?.mayRepeat ?? true else { return .failure(.refused(.bodyIsSpentOnChallenge)) }
                    isChallenged = true
                    continue
                }
                let read =
                    stream?.isFlowing == true
                    ? .success(APIResponse(status: reply.status)) : order.reader(sentAt: sentAt.wall).read(reply)
                switch read {
                case .success(let response):
                    return .success(
                        Received(
                            key: ResponseCacheStorage.Key(record, url: request.url), reply: reply, response: response,
                            sentAt: sentAt, receivedAt: context.clock.now()))
                case .failure(let said):
                    reason = wantsNonce ? .refused(.wantsNonceAgain(said.error)) : said
                    failure = .status(reply.status, retryAfter: said.error.retryAfter)
                }
            } catch {
                await context.transport.closeIdleConnections(to: Origin.all(of: [request.url]))
                reason = ProviderFailure(error)
                failure = .transport(error)
            }
            guard stream?.mayRepeat ?? true,
                let pause = random.withLock({ plan.pause(after: failure, using: &$0) })
            else {
                return .failure(reason)
            }
            do {
                try await context.clock.sleep(until: context.clock.now().boot + pause)
            } catch {
                // Nobody waits any more, or the agent stops: what is known is the answer.
                return .failure(reason)
            }
        }
    }

    /// The answer, after a renewal where the token was refused. Whether the session is over is what its status says.
    private func received(
        _ result: Result<Received, ProviderFailure>, _ order: PreparedCall, _ session: SessionName
    ) throws(AgentError) -> Received {
        guard case .failure(let failure) = result, failure.rejectsToken else {
            return try result.mapError(\.error).get()
        }
        if let state = context.board.status(session)?.state, state == .active || state == .stale {
            if failure.error.namesResource { throw .notForThisAPI(failure.error) }
            throw .tokenRefused(order.profile, session, failure.error)
        }
        throw .signInRequired(session, at: order.profile.name, cause: AgentError.tokenRefusal, from: failure.error)
    }

    /// Returns when the network is there, as far as this session's provider needs one.
    private func waitForNetwork(_ record: SessionRecord) async throws(AgentError) {
        guard context.providers.needsNetwork(record) else { return }
        for await _ in context.board.changes() where context.board.network.state != .offline { return }
        throw AgentError(.offline, "There was no network in the time allowed.", cause: "offline")
    }

    // MARK: What is known beforehand

    private func place(of record: SessionRecord) throws(AgentError) -> (ProviderProfile, ProviderEnvironment) {
        guard let profile = context.providers.profiles[record.provider] else { throw .unknownProvider(record.provider) }
        return (profile, try profile.environment(named: record.environment))
    }

    private func boundary() -> String { MultipartBody.newBoundary() }
}

extension APIResponse {
    /// The bytes of a reply's line around the response.
    private static let envelope = 4 << 10

    /// - Throws: `too_large` where it does not fit into one line of the protocol.
    func fitting() throws(AgentError) -> APIResponse {
        guard rendered.count <= Limits.lineBytes - Self.envelope else {
            throw AgentError(
                .tooLarge, "The answer is larger than one line of the protocol (\(Limits.lineBytes >> 20) MiB).",
                cause: "answer", httpStatus: status)
        }
        return self
    }
}

extension AgentError {
    fileprivate static func tokenRefused(
        _ profile: ProviderProfile, _ session: SessionName, _ error: AgentError
    ) -> AgentError {
        AgentError(
            .refused,
            "\(profile.title) did not accept the access token for this call, and accepts session \(session) all the same: "
                + "the account may lack the right to do this.", cause: tokenRefusal, httpStatus: error.httpStatus,
            providerMessage: error.providerMessage, details: error.details)
    }

    /// A 401 to a body that its client can read only once.
    fileprivate static func bodyIsSpent(_ error: AgentError) -> AgentError {
        AgentError(
            .refused,
            "The provider did not take the token, and the body can be read only once. The token has been renewed: "
                + "send it again.", cause: "body_once", httpStatus: error.httpStatus,
            providerMessage: error.providerMessage)
    }

    /// The API says who gives tokens for it. The session is good elsewhere, and another sign-in would bring the same.
    fileprivate static func notForThisAPI(_ error: AgentError) -> AgentError {
        var error = error
        error.message +=
            " The session itself is good. If this API wants tokens for itself alone, set `resource` in the profile "
            + "(resource_metadata names it), or get one with --audience."
        return error
    }

    /// A nonce was asked for when the body had been read (RFC 9449 §9); the next proof has it.
    fileprivate static let bodyIsSpentOnChallenge = AgentError(
        .providerError,
        "The provider wants a word of its own in the proof, and the body can be read only once. Send it again.",
        cause: DPoPProof.challenge, retryable: true)

    /// What is refused is the proof, not the token.
    fileprivate static func wantsNonceAgain(_ error: AgentError) -> AgentError {
        AgentError(
            .providerError, "The provider asked for another nonce in the proof, although it had just given one.",
            cause: DPoPProof.challenge, httpStatus: error.httpStatus, providerMessage: error.providerMessage,
            retryable: true)
    }

    fileprivate static func unknownEndpoint(_ name: String, of profile: ProviderProfile) -> AgentError {
        AgentError(
            .unknownEndpoint,
            "\(profile.title) has no endpoint of that name: `authc provider show \(profile.name) --endpoints` "
                + "shows what there is.")
    }
}
