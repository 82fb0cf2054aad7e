package import AuthWire
internal import Synchronization

/// Carries out calls of providers' APIs in their sessions' names.
///
/// Invariant: a token is sent to the origin of its session's environment and nowhere else; of one call at most two
/// tokens are tried.
package final class APIDesk: Sendable {
    private let table: SessionTable
    private let transport: any HTTPTransport
    private let clock: any SystemClock
    private let random: Mutex<SeededRandom>

    /// - Parameter seed: of jitter and of multipart boundaries.
    package init(table: SessionTable, transport: any HTTPTransport, clock: any SystemClock, seed: UInt64) {
        self.table = table
        self.transport = transport
        self.clock = clock
        random = Mutex(SeededRandom(seed: seed))
    }

    package func request(_ params: APIRequestParams) async throws(AgentError) -> APIResponse {
        let session = try table.session(params.session)
        let (profile, environment) = try place(of: await session.record)
        let order = try APIOrder(params, profile: profile, environment: environment, boundary: boundary())
        return try await answer(order, session).fitting()
    }

    package func call(_ params: APICallParams) async throws(AgentError) -> APIResponse {
        let session = try table.session(params.session)
        let (profile, environment) = try place(of: await session.record)
        guard let endpoint = profile.endpoints.first(where: { $0.name == params.endpoint }) else {
            throw .unknownEndpoint(params.endpoint, of: profile)
        }
        let order = try APIOrder(
            params, endpoint: endpoint, profile: profile, environment: environment, boundary: boundary())
        var response = try await answer(order, session)
        response.page = endpoint.pages?.page(of: response.body, args: params.args)
        return try response.fitting()
    }

    // MARK: One call

    private func answer(_ order: APIOrder, _ session: Session) async throws(AgentError) -> APIResponse {
        // Built once before the token is asked for: what cannot be sent is told first.
        _ = try order.build(await session.record)
        return try await exchange(order, session)
    }

    /// Sends with the session's token; a 401 is answered by renewing it once and sending once more.
    private func exchange(_ order: APIOrder, _ session: Session) async throws(AgentError) -> APIResponse {
        guard order.bearer else { return try await sent(order, session, token: nil).get(as: session.name) }
        let token = try await session.token(minValid: nil).accessToken
        let first = try await sent(order, session, token: token)
        guard case .failure(let failure) = first, failure.rejectsToken else { return try first.get(as: session.name) }
        try await session.reject(Secret(token))
        let renewed = try await session.token(minValid: nil).accessToken
        // Too young to be renewed for its age: what was refused then is not the token's age.
        guard renewed != token else { return try first.get(as: session.name) }
        return try await sent(order, session, token: renewed).get(as: session.name)
    }

    private func sent(
        _ order: APIOrder, _ session: Session, token: String?
    ) async throws(AgentError) -> Result<APIResponse, ProviderFailure> {
        var plan = RetryPlan(mayRepeat: order.mayRepeat)
        while true {
            let record = await session.record
            if order.waits { try await networkWanted(record) }
            var request = try order.build(record)
            if let token { request.headers.append(HTTPField("Authorization", "Bearer \(token)")) }
            let sentAt = clock.now()
            let failure: RetryPlan.Failure
            let result: Result<APIResponse, ProviderFailure>
            do throws(TransportError) {
                let reply = try await transport.send(request)
                result = AnswerReader(profile: order.profile, sentAt: sentAt.wall, takesPages: order.takesPages)
                    .read(reply)
                guard case .failure(let said) = result else { return result }
                failure = .status(reply.status, retryAfter: said.error.retryAfter)
            } catch {
                await transport.dropConnections()
                result = .failure(ProviderFailure(error))
                failure = .transport(error)
            }
            guard let pause = random.withLock({ plan.pause(after: failure, using: &$0) }) else { return result }
            do {
                try await clock.sleep(until: clock.now().boot + pause)
            } catch {
                // Nobody waits any more, or the agent stops: what is known is the answer.
                return result
            }
        }
    }

    /// Returns when the network is there, as far as this session's provider needs one.
    private func networkWanted(_ record: SessionRecord) async throws(AgentError) {
        guard table.provider.needsNetwork(record) else { return }
        for await _ in table.board.changes() where table.board.network.state != .offline { return }
        throw AgentError(.offline, "There was no network in the time allowed.", cause: "offline")
    }

    // MARK: What is known beforehand

    private func place(of record: SessionRecord) throws(AgentError) -> (ProviderProfile, ProviderEnvironment) {
        guard let profile = table.catalog.profiles[record.provider] else { throw .unknownProvider(record.provider) }
        return (profile, try ProviderExchange(profile: profile).environment(named: record.environment))
    }

    private func boundary() -> String {
        let (high, low) = random.withLock { ($0.next(), $0.next()) }
        return "authd-" + String(high, radix: 16) + String(low, radix: 16)
    }
}

extension Result<APIResponse, ProviderFailure> {
    /// The answer; a token that was refused to the last is the session's end as far as this caller can know.
    fileprivate func get(as session: SessionName) throws(AgentError) -> APIResponse {
        switch self {
        case .success(let response): return response
        case .failure(let failure) where failure.rejectsToken:
            throw .signInRequired(session, cause: "token_refused", from: failure.error)
        case .failure(let failure): throw failure.error
        }
    }
}

extension APIResponse {
    /// Of an answer's line: what stands around the response.
    private static let envelope = 4 << 10

    /// - Throws: `too_large` where it does not fit into one line of the protocol.
    fileprivate func fitting() throws(AgentError) -> APIResponse {
        guard json.serialized().count <= Limits.lineBytes - Self.envelope else {
            throw AgentError(
                .tooLarge, "The answer is larger than one line of the protocol (\(Limits.lineBytes >> 20) MiB).",
                cause: "answer", httpStatus: status)
        }
        return self
    }
}

extension AgentError {
    fileprivate static func unknownEndpoint(_ name: String, of profile: ProviderProfile) -> AgentError {
        AgentError(
            .unknownEndpoint,
            "\(profile.title) has no endpoint of that name: `authc provider show \(profile.name) --endpoints` "
                + "shows what there is.")
    }
}
