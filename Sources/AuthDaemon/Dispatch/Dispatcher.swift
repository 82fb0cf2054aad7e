package import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// One handler for each method, registered by its type. What is in memory is answered without a task or an actor's turn.
package struct Dispatcher: Sendable {
    let board: StateBoard
    private let providers: ProviderClient
    private var handlers: [String: any MethodHandler] = [:]

    package init(
        context: AgentContext, sessions: SessionRequests, signIns: SignInService, api: APIClient, outbox: Outbox,
        store: StoreAdmin, services: AgentServices
    ) {
        board = context.board
        providers = context.providers
        addAgent(services)
        addProviders(context.providers, signIns, services)
        addSignIns(signIns)
        addSessions(sessions)
        addTokens(sessions)
        addCalls(api, outbox)
        addStore(store)
    }

    /// - Parameter confinement: `nil` for a client that may do everything.
    func answer(_ request: RPCRequest, within confinement: Confinement?) -> RequestHandling {
        do throws(AgentError) {
            guard let handler = handlers[request.method] else { throw .methodNotFound(request.method) }
            guard let confinement else { return try handler.answer(request.params) }
            return try handler.answer(request.params, within: confinement)
        } catch {
            return .now(.failure(confinement?.visibility.error(error) ?? error))
        }
    }

    /// The header fields of a session's responses that may contain its credentials, in lower case.
    func credentialHeaders(of session: SessionName) -> Set<String> {
        let profile = board.status(session).flatMap { providers.profile(named: $0.provider) }
        return profile?.credentialHeaders ?? ProviderProfile.cookieHeaders
    }

    /// Any handler.
    mutating func on<Method: AgentMethod>(
        _: Method.Type, _ answer: @escaping @Sendable (Method) throws(AgentError) -> RequestHandling
    ) {
        handlers[Method.name] = Handler(reply: answer)
    }

    /// A handler that answers from memory.
    mutating func now<Method: AgentMethod>(
        _: Method.Type, _ result: @escaping @Sendable (Method) throws(AgentError) -> Method.Result
    ) {
        on(Method.self) { request throws(AgentError) in
            let value = try result(request)
            return .now(.success(value.json))
        }
    }

    /// A handler that answers from memory, once the store has been read: what is not in memory may be in the store.
    mutating func known<Method: AgentMethod>(
        _: Method.Type, _ result: @escaping @Sendable (Method) throws(AgentError) -> Method.Result
    ) {
        on(Method.self) { [board] request throws(AgentError) in
            guard board.store.state != .starting else {
                return .later(within: nil) { () async throws(AgentError) in
                    let value = try result(request)
                    return .value(value.json)
                }
            }
            let value = try result(request)
            return .now(.success(value.json))
        }
    }

    /// A handler that waits for `work`.
    /// - Parameter limit: the caller's own time limit.
    mutating func later<Method: AgentMethod>(
        _: Method.Type, within limit: @escaping @Sendable (Method) -> Duration? = { _ in nil },
        _ work: @escaping @Sendable (Method) async throws(AgentError) -> Method.Result
    ) {
        on(Method.self) { request in
            .later(within: limit(request)) { () async throws(AgentError) in
                let value = try await work(request)
                return .value(value.json)
            }
        }
    }
}

/// Reads the params of one method and answers the request.
///
/// A type, not a closure: Swift 6.3.1 crashes on a closure that reads the params and calls another one.
private protocol MethodHandler: Sendable {
    func answer(_ params: JSON?) throws(AgentError) -> RequestHandling
    func answer(_ params: JSON?, within confinement: Confinement) throws(AgentError) -> RequestHandling
}

private struct Handler<Method: AgentMethod>: MethodHandler {
    let reply: @Sendable (Method) throws(AgentError) -> RequestHandling

    func answer(_ params: JSON?) throws(AgentError) -> RequestHandling {
        let request = try Method(params: params)
        return try reply(request)
    }

    func answer(_ params: JSON?, within confinement: Confinement) throws(AgentError) -> RequestHandling {
        try confinement.check(Method.name, Method.access)
        var request = try Method(params: params)
        let confined = try confinement.confine(&request)
        return confinement.guarding(try reply(request), of: confined)
    }
}
