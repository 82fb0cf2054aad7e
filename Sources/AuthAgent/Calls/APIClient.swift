internal import AuthConcurrency
internal import AuthMachines
internal import AuthModel
package import AuthWire
internal import Synchronization

/// Carries out calls of providers' APIs with the tokens of sessions.
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
        let order = try PreparedCall(
            params, profile: profile, environment: environment, boundary: given ?? MultipartBody.newBoundary())
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
            params, endpoint: endpoint, profile: profile, environment: environment,
            boundary: given ?? MultipartBody.newBoundary())
        return (order, session, endpoint)
    }

    // MARK: One call

    private func answer(_ call: PreparedCall, _ session: Session) async throws(AgentError) -> APIResponse {
        let record = await session.record
        var order = call
        // Before a token is requested: an error in the request is returned first.
        try order.prepare(for: record)
        var response = try await answer(order, session, record)
        let url = try order.build(record).request.url
        response.next = order.nextPage(after: response, to: url)
        if response.next != nil { response.url = order.withoutToken(url) }
        return response
    }

    private func answer(
        _ order: PreparedCall, _ session: Session, _ record: SessionRecord
    ) async throws(AgentError) -> APIResponse {
        guard order.isRead else {
            let received = try await exchange(order, session)
            if order.template.method != "GET" { written(received, order) }
            return received.response
        }
        let request = try order.build(record).request
        let key = ResponseCacheStorage.Key(record, url: request.url)
        let found = order.cache == .reload ? nil : kept.find(key, for: request)
        if let found, order.cache == .only || found.isFresh(at: context.clock.now().boot) {
            return try response(found, order)
        }
        guard order.cache != .only else {
            throw AgentError(.notFound, "No cached response exists; `cache: only` sends nothing.", cause: "not_kept")
        }
        do throws(AgentError) {
            let received = try await exchange(order, session, asking: found?.validators ?? [])
            guard found != nil, received.reply.status == 304, received.key != key else {
                return try keep(received, found, order, session)
            }
            // Another account has signed in since: it must not get the former one's response.
            return try keep(try await exchange(order, session), nil, order, session)
        } catch {
            guard let found, found.mayBeStale, Self.outOfReach.contains(error.kind ?? .internal_),
                await session.record.signIn == record.signIn
            else { throw error }
            return try response(found, order)
        }
    }

    /// Failures without a response of the provider.
    private static let outOfReach: Set<ErrorKind> = [.offline, .captivePortal, .providerUnreachable, .timeout]

    // MARK: The cache

    private func response(_ answer: CachedResponse, _ order: PreparedCall) throws(AgentError) -> APIResponse {
        var response: APIResponse
        do throws(ProviderFailure) {
            response = try order.reader(sentAt: nil).read(answer.reply)
        } catch {
            throw error.error
        }
        response.fromCache = true
        response.ageMs = Int(answer.age(at: context.clock.now().boot).wholeMilliseconds)
        return response
    }

    private func keep(
        _ received: Received, _ found: CachedResponse?, _ order: PreparedCall, _ session: Session
    ) throws(AgentError) -> APIResponse {
        if received.reply.status == 304, var found {
            found.confirmed(
                by: received.reply, freshFor: order.freshFor(path: received.key.path), sentAt: received.sentAt,
                receivedAt: received.receivedAt)
            kept.put(found, at: received.key)
            return try response(found, order)
        }
        // If it was signed out meanwhile, what is stored now would never be removed.
        if let answer = cached(received, order),
            context.board.status(session.name).map({ $0.state != .signedOut }) ?? false
        {
            kept.put(answer, at: received.key)
        }
        return received.response
    }

    func written(_ received: Received, _ order: PreparedCall) {
        let key = received.key
        kept.forget(key, and: order.outdated(path: key.path))
        guard order.rules(for: order.template.method, path: key.path)?.answersAsRead == true,
            let answer = cached(received, order)
        else { return }
        kept.put(answer, at: key)
    }

    /// `nil` if it must not be cached.
    private func cached(_ received: Received, _ order: PreparedCall) -> CachedResponse? {
        CachedResponse(
            received.reply, to: received.request, freshFor: order.freshFor(path: received.key.path),
            sentAt: received.sentAt, receivedAt: received.receivedAt)
    }

    // MARK: The wire

    /// How long a token is to be valid when a stream begins, if the provider's lifetimes allow it.
    private static let streamsStart = Duration.seconds(60)

    struct Received {
        /// The key of this response in the cache.
        let key: ResponseCacheStorage.Key
        /// As built, without a token and conditions.
        let request: HTTPRequest
        let reply: HTTPResponse
        let response: APIResponse
        let sentAt: Moment
        let receivedAt: Moment
    }

    /// Sends with the session's token. After a 401 it renews the token and sends once more.
    func exchange(
        _ order: PreparedCall, _ session: Session, by stream: APIStream? = nil, asking conditions: [HTTPField] = []
    ) async throws(AgentError) -> Received {
        guard order.bearer else {
            let record = await session.record
            guard await session.record(of: record.signIn) != nil else {
                throw .notSignedIn(record.session, at: record.provider)
            }
            let signIn = record.signIn
            return try await converting(
                ProviderFailure.self, try await send(order, session, signIn, by: stream, token: nil, conditions))
        }
        // A body that can be read only once is not begun with a token that ends on the way.
        let (token, signIn) = try await self.token(of: session, minValid: stream == nil ? nil : Self.streamsStart)
        let first: ProviderFailure
        do throws(ProviderFailure) {
            return try await send(order, session, signIn, by: stream, token: token, conditions)
        } catch {
            guard error.rejectsToken else { throw await explained(error.error, session) }
            first = error
        }
        // Before the renewal: what the client sends meanwhile belongs to the next attempt.
        let canRepeatBody = stream?.rewind() ?? true
        do throws(AgentError) {
            try await session.reject(Secret(token))
        } catch {
            // The session continues with the same token, so the error is that of the call.
            throw error.cause == AgentError.renewalRefusal ? refusal(first, order, session.name) : error
        }
        guard canRepeatBody else { throw .bodyIsSpent(first.error) }
        let (renewed, present) = try await self.token(of: session, minValid: nil)
        // If a token that was renewed a moment ago is refused, another renewal would change nothing.
        guard renewed != token else { throw refusal(first, order, session.name) }
        do throws(ProviderFailure) {
            return try await send(order, session, present, by: stream, token: renewed, conditions)
        } catch {
            throw error.rejectsToken
                ? refusal(error, order, session.name) : await explained(error.error, session)
        }
    }

    /// A token, and the sign-in that it belongs to.
    private func token(
        of session: Session, minValid: Duration?
    ) async throws(AgentError) -> (token: String, signIn: SignInID) {
        while true {
            let signIn = await session.record.signIn
            let token = try await session.token(minValid: minValid).accessToken
            // Otherwise it may be a token of either.
            if await session.record.signIn == signIn { return (token, signIn) }
        }
    }

    /// - Parameter signIn: nothing is sent once the session has another one, or was signed out of.
    /// - Throws: ``ProviderFailure/refused(_:)`` for a request that must not be sent as well.
    private func send(
        _ order: PreparedCall, _ session: Session, _ signIn: SignInID, by stream: APIStream?, token: String?,
        _ conditions: [HTTPField]
    ) async throws(ProviderFailure) -> Received {
        var plan = RetryPlan(mayRepeat: order.mayRepeat)
        var isChallenged = false
        while true {
            let (record, request, ready): (SessionRecord, HTTPRequest, HTTPRequest)
            do throws(AgentError) {
                if order.waits { try await waitForNetwork(await session.record, for: stream) }
                record = try await self.record(of: session, signIn, token, for: order)
                (request, ready) = try await requests(for: order, record, stream, sendsToken: token != nil, conditions)
            } catch {
                throw .refused(error)
            }
            // The agent may have been locked meanwhile, or its client may have gone.
            if stream?.isClosed == true { throw .refused(.streamClosed) }
            let failure: RetryPlan.Failure
            let reason: ProviderFailure
            let sentAt = context.clock.now()
            let outcome: Result<HTTPResponse, TransportError> = await Result(
                of: try await context.transport.send(ready))
            switch outcome {
            case .success(let reply):
                if order.profile.keepsCookies {
                    await session.storeCookies(of: reply, from: ready.url, sentAt: sentAt.wall, for: record)
                }
                let wantsNonce = context.providers.signer.recordNonce(of: reply, to: ready)
                if wantsNonce, !isChallenged {
                    guard stream?.rewind() ?? true else { throw .refused(.bodyIsSpentOnChallenge) }
                    isChallenged = true
                    continue
                }
                do throws(ProviderFailure) {
                    let response =
                        stream?.isFlowing == true
                        ? APIResponse(status: reply.status) : try order.reader(sentAt: sentAt.wall).read(reply)
                    return Received(
                        key: ResponseCacheStorage.Key(record, url: request.url), request: request, reply: reply,
                        response: response, sentAt: sentAt, receivedAt: context.clock.now())
                } catch {
                    // The write is done, although nobody can read the answer: sent again, it would be done twice.
                    if order.isQueued, error.isOfCarriedOutWrite(reply, acceptsRedirects: ready.acceptsRedirects) {
                        return Received(
                            key: ResponseCacheStorage.Key(record, url: request.url), request: request, reply: reply,
                            response: APIResponse(status: reply.status, headers: ResponseDecoder.headers(reply)),
                            sentAt: sentAt, receivedAt: context.clock.now())
                    }
                    reason = wantsNonce ? .refused(.wantsNonceAgain(error.error)) : error
                    failure = .status(reply.status, retryAfter: error.error.retryAfter)
                }
            case .failure(let error):
                await context.transport.closeIdleConnections(to: Origin.all(of: [ready.url]))
                reason = ProviderFailure(error)
                failure = .transport(error)
            }
            guard let pause = random.withLock({ plan.pause(after: failure, using: &$0) }), stream?.rewind() ?? true
            else { throw reason }
            // If the caller has gone or the agent stops, the last failure is the result.
            guard (try? await context.clock.sleep(until: context.clock.now().boot + pause)) != nil else { throw reason }
        }
    }

    /// What a request is built from. A header of the profile may contain the token: it is the one that the caller waited for.
    private func record(
        of session: Session, _ signIn: SignInID, _ token: String?, for order: PreparedCall
    ) async throws(AgentError) -> SessionRecord {
        // A caller that waited for a token may have received that of a new sign-in.
        if let only = order.signIn, only.id != signIn { throw only.otherwise }
        guard var record = await session.record(of: signIn) else { throw .signInHasEnded(session.name) }
        if let token { record.tokens.accessToken = Secret(token) }
        return record
    }

    /// The request as built, and as it is sent: with conditions, token and proof.
    private func requests(
        for order: PreparedCall, _ record: SessionRecord, _ stream: APIStream?, sendsToken: Bool,
        _ conditions: [HTTPField]
    ) async throws(AgentError) -> (HTTPRequest, HTTPRequest) {
        let request = try order.build(record, with: stream)
        var ready = request
        ready.headers += conditions
        // A redirect may say that the write was carried out. Without TLS, on the way to another machine, it may be a portal's.
        if order.isQueued, let origin = Origin(of: ready.url) {
            ready.acceptsRedirects = origin.isSecure || origin.isLoopback
        }
        // Nothing else is secret in a call without a token, so that a change of the origin does not prevent it.
        let mayHaveCookies = order.profile.keepsCookies && OriginGuard(record).allows(.accessToken, at: ready.url)
        let carries = sendsToken ? order.carries.union(.accessToken) : order.carries
        if !carries.isEmpty { try OriginGuard(record).check(carries, at: ready.url) }
        if sendsToken {
            try order.profile.tokenPlace.add(TemplateValues(record), to: &ready, for: order.profile.title)
        }
        // After the token, which may be a cookie: a kept one of that name gives way.
        if mayHaveCookies { record.tokens.cookies.add(to: &ready, at: context.clock.now().wall) }
        return (request, try await context.providers.signer.proven(ready))
    }

    /// The error after a renewal, if the token was refused. The session's status says whether the session is over.
    private func refusal(_ failure: ProviderFailure, _ order: PreparedCall, _ session: SessionName) -> AgentError {
        if let state = context.board.status(session)?.state, state == .active || state == .stale {
            // The token of a URL's session is for that resource already.
            if failure.error.namesResource, order.profile.resource == nil { return .notForThisAPI(failure.error) }
            return .tokenRefused(order.profile, session, failure.error)
        }
        return .signInRequired(
            session, at: order.profile.name, cause: AgentError.tokenRefusal, from: failure.error)
    }

    /// An error about missing scopes gets the command that grants them, and the user is notified. Other errors stay.
    private func explained(_ error: AgentError, _ session: Session) async -> AgentError {
        guard error.cause == TokenChallenge.insufficientScope, error.kind == .forbidden else { return error }
        let record = await session.record
        guard let profile = context.providers.profile(of: record) else { return error }
        let grant = ScopeGrant(of: record, at: profile, needed: error.details)
        if let command = grant.signIn { context.board.put(missing: grant.missing, command: command, of: record) }
        return grant.explained(error)
    }

    /// Returns when there is a network or the stream is closed, or at once if this session's provider needs none.
    private func waitForNetwork(_ record: SessionRecord, for stream: APIStream?) async throws(AgentError) {
        guard context.providers.needsNetwork(record) else { return }
        let closing = stream?.closing()
        let hasEnded = await withTaskGroup(of: Bool.self) { [board = context.board] group in
            group.addTask {
                for await _ in board.changes() where board.network.state != .offline { return true }
                return false
            }
            if let closing {
                group.addTask { await closing.value() != nil }
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        if !hasEnded { throw .noNetworkInTime }
    }

    // MARK: The profile

    private func place(of record: SessionRecord) throws(AgentError) -> (ProviderProfile, ProviderEnvironment) {
        guard let profile = context.providers.profile(of: record) else { throw .unknownProvider(record.provider) }
        return (profile, try profile.environment(named: record.environment))
    }
}

extension APIResponse {
    /// The bytes of a reply's line around the response.
    private static let envelope = 4 << 10

    /// - Throws: `too_large` where it does not fit into one line of the protocol.
    func fitting() throws(AgentError) -> APIResponse {
        guard rendered.count <= Limits.lineBytes - Self.envelope else {
            throw AgentError(
                .tooLarge, "The response is larger than one line of the protocol (\(Limits.lineBytes >> 20) MiB).",
                cause: "answer", httpStatus: status)
        }
        return self
    }
}
