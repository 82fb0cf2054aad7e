import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire

/// Applies the rules for confined clients to their requests. A client that is not confined has none, and costs one comparison.
///
/// The rules are read at each request, and again before its result is sent: a reload also applies to open connections, to
/// requests that wait, and to streams.
struct Confinement: Sendable {
    /// Why the client is confined.
    var client = ConfinedClient.socket(.extra)
    let tables: StateBroadcast<ListenerTables>
    let board: StateBoard
    /// Header fields of a session's responses that may contain its credentials, in lower case.
    let credentialHeaders: @Sendable (SessionName) -> Set<String>

    /// Whether an access rule hides one of the listed sessions; `nil`: none does.
    var hides: (@Sendable (SessionName) -> Bool)?

    private var now: ListenerRules { (tables.current ?? ListenerTables())[client.boundary] }

    var visibility: Visibility {
        var visible = now
        if let hides { visible.sessions = visible.sessions.filter { !hides($0) } }
        return Visibility(visible, board, for: client)
    }

    /// Checks a method before its params are read.
    func check(_ method: String, _ access: AccessClass) throws(AgentError) {
        if let refusal = request(method, access).refusalOfMethod(by: now) { throw refusal }
    }

    /// Fills in the session that a request means, and checks the request.
    func confine<Method: AgentMethod>(_ request: inout Method) throws(AgentError) -> ConfinedRequest {
        var confined = self.request(Method.name, Method.access)
        if var scoped = request as? any SessionScoped {
            if scoped.session == nil {
                scoped.session = try defaultSession()
                if let named = scoped as? Method { request = named }
            }
            confined.session = scoped.session
        }
        switch request {
        case let call as APICall:
            (confined.endpoint, confined.hasAddress, confined.isQueued) = (call.endpoint, call.next != nil, call.queue)
        case let call as APIRequest: confined.isQueued = call.queue
        case let call as TokenGet: (confined.scopes, confined.audience) = (call.scopes, call.audience)
        case let call as EventsSubscribe: confined.session = call.params.session
        case let call as ProviderShow where !visibility.providers.contains(call.params.provider):
            throw .unknownProvider(call.params.provider)
        default: break
        }
        if let refusal = confined.refusal(by: now) { throw refusal }
        return confined
    }

    private func request(_ method: String, _ access: AccessClass) -> ConfinedRequest {
        ConfinedRequest(method: method, access: access, at: client.boundary)
    }

    private func defaultSession() throws(AgentError) -> SessionName {
        do throws(AgentError) {
            return try visibility.defaultSession()
        } catch {
            throw board.store.state == .starting ? .storeNotRead(visibleStore) : error
        }
    }

    /// Its message may be about other sessions.
    private var visibleStore: StoreInfo { StoreInfo(kind: board.store.kind, state: board.store.state) }

    /// - Throws: if an empty list would say that there are no sessions, while the store has not been read.
    private func checkStore(for request: ConfinedRequest) throws(AgentError) {
        let isEmptyList = request.method == SessionListGet.name && visibility.statuses.isEmpty
        guard isEmptyList, board.store.state != .ready else { return }
        throw .storeNotRead(visibleStore)
    }

    // MARK: Results

    /// The same handling, whose results are checked and filtered.
    func guarding(_ handling: RequestHandling, of request: ConfinedRequest) -> RequestHandling {
        switch handling {
        case .live: .now(.failure(visibility.error(.notAllowed(at: client.boundary, "allows no such token"))))
        case .onStream(let name, let use): .onStream(name) { guarding(use($0), of: request) }
        default:
            handling.wrapping(
                now: { guarding($0, of: request) }, work: { guarding($0, of: request) },
                opening: { guarding($0, of: request) })
        }
    }

    private func guarding(
        _ result: Result<JSON, AgentError>, of request: ConfinedRequest
    ) -> Result<JSON, AgentError> {
        Result { () throws(AgentError) in
            try checkStore(for: request)
            return visibility.result(try result.get(), of: request.method)
        }.mapError(visibility.error)
    }

    private func guarding(_ work: @escaping RequestTask.Work, of request: ConfinedRequest) -> RequestTask.Work {
        { end async throws(AgentError) in
            let payload = try await result(of: { () async throws(AgentError) in try await work(end) }, for: request)
                .get()
            if let refusal = request.refusal(by: now) { throw visibility.error(refusal) }
            switch payload {
            case .token(let token):
                if let refusal = request.refusal(of: token, by: now) { throw visibility.error(refusal) }
                return payload
            case .response(let response): return .response(withoutCredentials(response, of: request))
            case .value(let json):
                do throws(AgentError) {
                    try checkStore(for: request)
                } catch {
                    throw visibility.error(error)
                }
                return .value(visibility.result(json, of: request.method))
            case .text: throw visibility.error(.notAllowed(at: client.boundary, "allows no such result"))
            }
        }
    }

    /// The result of the work, or the refusal by new rules, whichever is first.
    private func result(
        of work: @escaping RequestTask.BoundedWork, for request: ConfinedRequest
    ) async -> Result<Payload, AgentError> {
        await withTaskGroup(of: Result<Payload, AgentError>?.self) { group in
            group.addTask {
                do throws(AgentError) {
                    return .success(try await work())
                } catch {
                    return .failure(visibility.error(error))
                }
            }
            group.addTask {
                for await tables in tables.states() {
                    if let refusal = request.refusal(by: tables[client.boundary]) {
                        return .failure(visibility.error(refusal))
                    }
                }
                return nil
            }
            defer { group.cancelAll() }
            for await result in group { if let result { return result } }
            return .failure(.stopping)
        }
    }

    /// An API may set the cookies that the session is signed in with in any response.
    private func withoutCredentials(_ response: APIResponse, of request: ConfinedRequest) -> APIResponse {
        let hidden = request.session.map(credentialHeaders) ?? ProviderProfile.cookieHeaders
        var visible = response
        visible.headers = response.headers.filter { !hidden.contains($0.key) }
        return visible
    }

    private func guarding(_ opening: StreamOpening, of request: ConfinedRequest) -> StreamOpening {
        var guarded = opening
        guarded.make = { send throws(AgentError) in
            try opening.make { result in
                if let refusal = request.refusal(by: now) { return send(.failure(visibility.error(refusal))) }
                send(result.map { withoutCredentials($0, of: request) }.mapError(visibility.error))
            }
        }
        guarded.run = { stream in
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await tables in tables.states() {
                        guard let refusal = request.refusal(by: tables[client.boundary]) else { continue }
                        return stream.close(visibility.error(refusal))
                    }
                }
                await opening.run(stream)
                group.cancelAll()
            }
        }
        return guarded
    }
}
