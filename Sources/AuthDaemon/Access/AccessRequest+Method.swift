import AuthModel
import AuthWire

extension AccessRequest {
    /// - Parameter chosen: the default session.
    init<Method: AgentMethod>(_ request: Method, default chosen: SessionName?) {
        self.init(method: Method.name, access: Method.access, target: Self.target(of: request, default: chosen))
        switch request {
        case let request as TokenGet: scopes = Scopes(request.scopes)
        case let request as APICall: (endpoint, reachesAnyPath) = (request.endpoint, request.next != nil)
        default: break
        }
    }

    private static func target(of request: some AgentMethod, default chosen: SessionName?) -> Target {
        switch request {
        // The session is known when the token is.
        case let request as TokenGet where request.session == nil && request.origin != nil: .none
        case let request as any SessionScoped: (request.session ?? chosen).map(Target.named) ?? .any
        case let request as SessionUse: .named(request.session)
        case let request as EventsSubscribe: request.params.session.map(Target.named) ?? .none
        case let request as EventsUnsubscribe: request.params.session.map(Target.named) ?? .none
        case let request as LoginStart: named(request.session)
        case let request as PasswordSet: named(request.params.session)
        case let request as PasswordChange: named(request.params.session)
        case let request as PasswordRequestReset: named(request.params.session)
        case let request as PasswordReset: named(request.params.session)
        case let request as SessionExport: named(request.session)
        case is SessionImport: .any
        case let request as OutboxListGet: named(request.params.session)
        case let request as OutboxFlush: named(request.params.session)
        case let request as OutboxDrop: named(request.params.session)
        default: .none
        }
    }

    private static func named(_ session: SessionName?) -> Target { session.map(Target.named) ?? .any }
}

// Confined clients may never call these methods.
extension SessionLogout: SessionScoped {}
extension SessionTrust: SessionScoped {}
extension UserUpdate: SessionScoped {}
