package import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// One handler for each method, registered by its type. What is in memory is answered without a task or an actor's turn.
package struct Dispatcher: Sendable {
    let board: StateBoard
    let audit: AuditLog
    let access: AccessControl
    let signInLimit: SignInLimit
    private let users: UserGate.Services
    private let providers: ProviderClient
    private let signIns: SignInService
    /// Each makes the handler of a method. The runtime makes a handler's generic type at its first use: all eighty
    /// would take 2 ms of each start.
    private var handlers: [String: @Sendable () -> any MethodHandler] = [:]

    package init(
        context: AgentContext, sessions: SessionRequests, signIns: SignInService, api: APIClient, outbox: Outbox,
        store: StoreAdmin, lock: LockService, services: AgentServices, policy: PolicyRequests, audit: AuditLog,
        signInLimit: SignInLimit, presence: PresenceService, consent: ConsentService, lent: LentSignIns
    ) {
        self.audit = audit
        access = policy.access
        self.signInLimit = signInLimit
        users = UserGate.Services(
            sessions: sessions, presence: presence, consent: consent, programs: ConsentPrograms())
        board = context.board
        providers = context.providers
        self.signIns = signIns
        addAgent(services)
        addProviders(context.providers, signIns, services)
        addSignIns(signIns)
        addSessions(sessions)
        addTokens(sessions)
        addCalls(api, outbox)
        addStore(store)
        addLock(lock, presence)
        addAudit(audit)
        addPolicy(policy)
        addConsent(consent)
        addLending(lent, consent)
    }

    private static let longestName = 64

    func answer(_ request: RPCRequest, from caller: Caller) -> RequestHandling {
        // No known name is as long, and text that is not ASCII is normalized before it is compared.
        let isLong = request.method.utf8.count > Self.longestName
        guard !isLong, let handler = handlers[request.method]?() else {
            let error = AgentError.methodNotFound(request.method)
            return .now(.failure(caller.confinement?.visibility.error(error) ?? error))
        }
        // Its response lets the client make itself not dumpable, as authc does.
        if request.method == AgentPing.name { caller.identifyEarly() }
        if let refusal = refusalWhileLocked(of: request.method, handler, from: caller) { return refusal }
        var described: AuditedRequest?
        var purpose: String?
        var decided: (request: AccessRequest, decision: AccessDecision)?
        var handling = handler.answer(
            request.params, from: caller, in: access.confinement(of: caller),
            describing: { request in
                purpose = (request as? TokenGet)?.purpose
                if handler.isAudited { described = AuditedRequest(request) { profile(of: $0) } }
            },
            deciding: { request throws(AgentError) in
                let made = self.decision(about: request, by: caller)
                decided = made
                if made.decision.isRecorded(made.request.method), described == nil {
                    described = AuditedRequest(request) { profile(of: $0) }
                }
                if made.decision.isRefused { throw made.decision.error(made.request.title) }
                // Requests that are refused do not count.
                if SignInLimit.methods.contains(made.request.method) {
                    try signInLimit.spend(caller.identity, for: made.request.method)
                }
                if handler.access != .status { board.recordUse() }
                return access.policy.testsSessions ? made.request.target.name : nil
            })
        if let decided,
            let gate = UserGate(
                decided.request, decided.decision, by: caller, purpose: purpose, in: access, users)
        {
            handling = gate.guarding(handling)
        }
        if case .open(var opening) = handling {
            opening.request = decided?.request
            handling = .open(opening)
        }
        handling = HiddenSessions(access, for: caller)?.filtering(handling, of: request.method) ?? handling
        guard handler.isAudited || decided?.decision.isRecorded(request.method) == true else { return handling }
        let deciding = decided.map { DecidedRequest($0.request, by: caller, in: access) }
        if let deciding { handling = deciding.guarding(handling) }
        var audited = described ?? AuditedRequest(method: request.method)
        // A request that cannot be read may name any session, and a confined client has a separate default session.
        if described?.meansDefaultSession == true, caller.confinement == nil {
            audited.session = board.status(nil)?.session
        }
        return AuditTrail(audited, by: caller, decision: decided?.decision, decided: deciding, in: audit)
            .recording(handling)
    }

    private func decision(
        about request: any AgentMethod, by caller: Caller
    ) -> (request: AccessRequest, decision: AccessDecision) {
        let request = AccessRequest(
            request, default: board.status(nil)?.session, streamSession: { caller.streamSessions[$0] },
            signInSession: signIns.session(of:))
        return (request, access.decision(about: request, by: caller))
    }

    /// `nil`: the agent is not locked, or serves this method all the same.
    private func refusalWhileLocked(
        of method: String, _ handler: any MethodHandler, from caller: Caller
    ) -> RequestHandling? {
        guard handler.access != .status, board.isLocked, !LockRules.serves(method, handler.access) else { return nil }
        let error = AgentError.agentLocked
        let refusal = RequestHandling.now(.failure(caller.confinement?.visibility.error(error) ?? error))
        guard handler.isAudited else { return refusal }
        return AuditTrail(AuditedRequest(method: method), by: caller, in: audit).recording(refusal)
    }

    private func profile(of session: SessionName?) -> ProviderProfile? {
        board.status(session).flatMap { providers.profile(named: $0.provider) }
    }

    /// The header fields of a session's responses that may contain its credentials, in lower case.
    func credentialHeaders(of session: SessionName) -> Set<String> {
        profile(of: session)?.credentialHeaders ?? ProviderProfile.cookieHeaders
    }

    /// Any handler.
    mutating func on<Method: AgentMethod>(
        _: Method.Type, _ answer: @escaping @Sendable (Method) throws(AgentError) -> RequestHandling
    ) {
        onCaller(Method.self) { request, _ throws(AgentError) in try answer(request) }
    }

    /// Any handler that needs to know who calls.
    mutating func onCaller<Method: AgentMethod>(
        _: Method.Type, _ answer: @escaping @Sendable (Method, Caller) throws(AgentError) -> RequestHandling
    ) {
        handlers[Method.name] = { Handler(reply: answer) }
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
                return .later(within: nil) { _ async throws(AgentError) in
                    let value = try result(request)
                    return .value(value.json)
                }
            }
            let value = try result(request)
            return .now(.success(value.json))
        }
    }

    /// A handler that waits for `work`.
    /// - Parameters:
    ///   - limit: the caller's own time limit.
    ///   - precheck: throws if the work would certainly fail. It runs before the user is asked.
    mutating func later<Method: AgentMethod>(
        _: Method.Type, within limit: @escaping @Sendable (Method) -> Duration? = { _ in nil },
        after precheck: (@Sendable (Method) async throws(AgentError) -> Void)? = nil,
        _ work: @escaping @Sendable (Method) async throws(AgentError) -> Method.Result
    ) {
        on(Method.self) { request in
            Self.waiting(for: request, within: limit(request), after: precheck) { () async throws(AgentError) in
                try await work(request)
            }
        }
    }

    /// The same for work whose messages name sessions: it learns which ones the client may see.
    mutating func naming<Method: AgentMethod>(
        _: Method.Type, within limit: @escaping @Sendable (Method) -> Duration? = { _ in nil },
        after precheck: (@Sendable (Method) async throws(AgentError) -> Void)? = nil,
        _ work: @escaping @Sendable (Method, SessionNames) async throws(AgentError) -> Method.Result
    ) {
        onCaller(Method.self) { [access] request, caller in
            let names = SessionNames(without: HiddenSessions(access, for: caller)?.rule)
            return Self.waiting(for: request, within: limit(request), after: precheck) { () async throws(AgentError) in
                try await work(request, names)
            }
        }
    }

    private static func waiting<Method: AgentMethod>(
        for request: Method, within limit: Duration?,
        after precheck: (@Sendable (Method) async throws(AgentError) -> Void)?,
        _ work: @escaping @Sendable () async throws(AgentError) -> Method.Result
    ) -> RequestHandling {
        var waiting = WaitingRequest(
            limit: limit,
            work: { _ async throws(AgentError) in
                let value = try await work()
                return .value(value.json)
            })
        if let precheck {
            waiting.precheck = { () async throws(AgentError) in try await precheck(request) }
        }
        return .later(waiting)
    }
}

/// Reads the params of one method and answers the request.
///
/// A type, not a closure: Swift 6.3.1 crashes on a closure that reads the params and calls another one.
private protocol MethodHandler: Sendable {
    var access: AccessClass { get }
    var isAudited: Bool { get }
    /// - Parameters:
    ///   - confinement: the caller's.
    ///   - describe: gets the request, if it can be read.
    ///   - decide: throws if a rule refuses the request, and returns the session that it decided about.
    func answer(
        _ params: JSON?, from caller: Caller, in confinement: Confinement?,
        describing describe: (any AgentMethod) -> Void,
        deciding decide: (any AgentMethod) throws(AgentError) -> SessionName?
    ) -> RequestHandling
}

private struct Handler<Method: AgentMethod>: MethodHandler {
    let reply: @Sendable (Method, Caller) throws(AgentError) -> RequestHandling

    var access: AccessClass { Method.access }
    var isAudited: Bool { AuditedRequest.isAudited(Method.name, Method.access) }

    func answer(
        _ params: JSON?, from caller: Caller, in confinement: Confinement?,
        describing describe: (any AgentMethod) -> Void,
        deciding decide: (any AgentMethod) throws(AgentError) -> SessionName?
    ) -> RequestHandling {
        do throws(AgentError) {
            let handling: RequestHandling
            if let confinement {
                try confinement.check(Method.name, Method.access)
                var request = try Method(params: params)
                // Even if it is refused.
                defer { describe(request) }
                let confined = try confinement.confine(&request)
                _ = try decide(request)
                handling = confinement.guarding(try reply(request, caller), of: confined)
            } else {
                var request = try Method(params: params)
                describe(request)
                // The default session may be another one when the request is carried out.
                if let session = try decide(request), var scoped = request as? any SessionScoped,
                    scoped.session == nil
                {
                    scoped.session = session
                    if let named = scoped as? Method { request = named }
                }
                handling = try reply(request, caller)
            }
            return LockRules.serves(Method.name, Method.access) ? handling.continuingWhenLocked() : handling
        } catch {
            return .now(.failure(confinement?.visibility.error(error) ?? error))
        }
    }
}
