import AuthModel
import AuthWire

/// Which session a request is about, and what else rules test about it. Requests, `policy.test` and `policy.replay` are all
/// described here.
extension AccessRequest {
    /// What a request is about that names no session.
    private enum Unnamed {
        /// The default session.
        case chosen
        /// Every session, or one that is not known.
        case any
        /// Always every session.
        case every
        case nothing
    }

    /// The methods whose requests may name a session.
    private static let unnamed: [String: Unnamed] = {
        let chosen = [
            SessionStatusGet.name, SessionWait.name, SessionRefresh.name, SessionValidate.name, SessionLogout.name,
            SessionTrust.name, TokenGet.name, TokenReject.name, TokenProof.name, UserGet.name, UserUpdate.name,
            APIRequest.name, APICall.name, PasswordSet.name, PasswordChange.name, PasswordRequestReset.name,
            PasswordReset.name,
        ]
        let any = [
            SessionUse.name, SessionExport.name, SessionImport.name, OutboxListGet.name, OutboxFlush.name,
            OutboxDrop.name, LoginStart.name,
        ]
        let every = [StoreMigrate.name, StoreRekey.name, ClusterAdmit.name]
        // They name a sign-in or a stream, which has a session.
        let related = [
            LoginAnswer.name, LoginCheck.name, LoginWait.name, LoginCancel.name, LoginResend.name, APIWrite.name,
            APIRead.name, APIClose.name,
        ]
        let nothing = [EventsSubscribe.name, EventsUnsubscribe.name]
        return Dictionary(
            uniqueKeysWithValues: chosen.map { ($0, .chosen) } + (any + related).map { ($0, .any) }
                + every.map { ($0, .every) } + nothing.map { ($0, .nothing) })
    }()

    /// - Parameters:
    ///   - chosen: the default session.
    ///   - streamSession, signInSession: the session of a stream of the connection, and of a sign-in.
    init<Method: AgentMethod>(
        _ request: Method, default chosen: SessionName?, streamSession: (String) -> SessionName? = { _ in nil },
        signInSession: (String) -> SessionName? = { _ in nil }
    ) {
        self.init(method: Method.name, access: Method.access)
        let named: SessionName? =
            switch request {
            case let request as any SessionScoped: request.session
            case let request as SessionUse: request.session
            case let request as EventsSubscribe: request.params.session
            case let request as EventsUnsubscribe: request.params.session
            case let request as LoginStart: request.session
            case let request as LoginAnswer: signInSession(request.login)
            case let request as LoginCheck: signInSession(request.login)
            case let request as LoginWait: signInSession(request.params.login)
            case let request as LoginCancel: signInSession(request.params.login)
            case let request as LoginResend: signInSession(request.params.login)
            case let request as APIWrite: streamSession(request.stream)
            case let request as APIRead: streamSession(request.stream)
            case let request as APIClose: streamSession(request.params.stream)
            case let request as SessionExport: request.session
            case let request as OutboxListGet: request.params.session
            case let request as OutboxFlush: request.params.session
            case let request as OutboxDrop: request.params.session
            default: nil
            }
        let (token, call) = (request as? TokenGet, request as? APICall)
        describe(
            named, default: chosen, endpoint: call?.endpoint, scopes: token?.scopes, hasOrigin: token?.origin != nil)
        reachesAnyPath = call?.next != nil
        // Without a session they are about the one that is named after the provider.
        let password = (request as? PasswordRequestReset)?.params ?? (request as? PasswordReset)?.params
        if named == nil, password?.provider != nil { target = .any }
        // What opens the sessions stays, so it gives none of them away.
        if let rekey = request as? StoreRekey, rekey.passphrase == nil, rekey.key == nil { target = .none }
        // There is no such stream: the request gets that error, not one of a rule about sessions.
        if named == nil, [APIWrite.name, APIRead.name, APIClose.name].contains(Method.name) { target = .later }
    }

    /// A request that is described; `nil`: there is no such method.
    /// - Parameters:
    ///   - hasOrigin: the request has the origin that a token is for.
    ///   - hasNext: the call has the address of another page.
    ///   - chosen: the default session; `nil`: it is not known.
    init?(
        method name: String, session: SessionName?, endpoint: String?, scopes: [String]?, hasOrigin: Bool = false,
        hasNext: Bool = false, default chosen: SessionName?
    ) {
        guard let method = AgentMethods.named(name) else { return nil }
        self.init(method: name, access: method.access)
        describe(session, default: chosen, endpoint: endpoint, scopes: scopes, hasOrigin: hasOrigin)
        reachesAnyPath = hasNext && name == APICall.name
    }

    private mutating func describe(
        _ session: SessionName?, default chosen: SessionName?, endpoint: String?, scopes: [String]?, hasOrigin: Bool
    ) {
        let found: Target =
            switch Self.unnamed[method] {
            // The session is known when the token is.
            case .chosen where method == TokenGet.name && hasOrigin: .later
            case .chosen: chosen.map(Target.named) ?? .any
            case .any, .every: .any
            case .nothing, nil: .none
            }
        target =
            switch Self.unnamed[method] {
            case .every, nil: found
            default: session.map(Target.named) ?? found
            }
        if method == APICall.name { self.endpoint = endpoint }
        if method == TokenGet.name { self.scopes = Scopes(scopes) }
    }
}

// Confined clients may never call these methods.
extension SessionLogout: SessionScoped {}
extension SessionTrust: SessionScoped {}
extension UserUpdate: SessionScoped {}

extension PasswordSet: SessionScoped {}
extension PasswordChange: SessionScoped {}
extension PasswordRequestReset: SessionScoped {}
extension PasswordReset: SessionScoped {}

extension MethodWithParams where Params == PasswordParams {
    var session: SessionName? {
        get { params.session }
        set { params.session = newValue }
    }
}
