import AuthMachines
import AuthModel
import AuthWire

extension AuditedRequest {
    /// Methods of classes other than `admin`.
    private static let methods: Set<String> = aboutSession.union([
        OutboxFlush.name, OutboxDrop.name, LoginLend.name,
    ])
    /// About the default session if they name none.
    private static let aboutSession: Set<String> = [
        TokenGet.name, TokenProof.name, APIRequest.name, APICall.name, UserGet.name, UserUpdate.name,
    ]

    /// Methods of the class `admin` that only read what the agent keeps.
    fileprivate static let readers: Set<String> = [
        AuditListGet.name, PolicyShow.name, PolicyTest.name, PolicyReplay.name,
    ]

    /// Whether the audit log has requests of this method.
    static func isAudited(_ method: String, _ access: AccessClass) -> Bool {
        access == .admin ? !readers.contains(method) : methods.contains(method)
    }

    /// It names no session. A token for an origin may be another session's.
    var meansDefaultSession: Bool {
        guard session == nil else { return false }
        return method == SessionTrust.name || (Self.aboutSession.contains(method) && origin == nil)
    }

    /// - Parameter profile: of a session.
    init<Method: AgentMethod>(_ request: Method, profile: (SessionName?) -> ProviderProfile?) {
        self.init(method: Method.name)
        switch request {
        case let request as TokenGet:
            self = AuditedRequest(
                method: Method.name, session: request.session, scopes: request.scopes, audience: request.audience,
                purpose: request.purpose, origin: request.origin)
        case let request as TokenProof: session = request.session
        case let request as SessionExport: session = request.session
        case let request as SessionTrust:
            self = AuditedRequest(
                method: Method.name, session: request.session, origin: request.origins.map(Self.list),
                isReadOnly: request.origins == nil)
        case let request as PolicyApply:
            self = AuditedRequest(method: Method.name, isReadOnly: request.accepted == nil)
        case let request as AgentReload: self = AuditedRequest(method: Method.name, isReadOnly: request.check)
        case let request as UserGet: session = request.session
        case let request as UserUpdate: session = request.session
        case let request as SessionUse: session = request.session
        case let request as SessionLogout: session = request.session
        case let request as LoginStart: session = request.session
        case let request as LoginLend:
            self = AuditedRequest(method: Method.name, scopes: request.scopes, purpose: request.host)
        case let request as OutboxFlush: session = request.params.session
        case let request as OutboxDrop: session = request.params.session
        case let request as APICall:
            let endpoint = profile(request.session)?.endpoints.first { $0.name == request.endpoint }
            // A name that is not in the profile is the client's text.
            self = AuditedRequest(
                method: Method.name, session: request.session, endpoint: endpoint?.name,
                call: endpoint.map { "\($0.request.method) \($0.request.path.text)" })
            hasNext = request.next != nil
        case let request as APIRequest:
            let path = profile(request.session)?.pathTemplate(of: request.method, request.path)
            self = AuditedRequest(
                method: Method.name, session: request.session,
                call: "\(Self.verb(request.method)) \(path ?? Self.anyPath)")
        default: break
        }
    }

    /// What this agent offers to the user, and not what the other machine has requested.
    init(lending signIn: RemoteSignIn) {
        self = AuditedRequest(
            method: LoginLend.name, scopes: signIn.scopes, purpose: signIn.host,
            call: signIn.isDevice ? "device" : "browser", origin: signIn.server)
    }

    /// For a path that no endpoint of the profile has: it may have values.
    static let anyPath = "*"

    private static func verb(_ method: String) -> String {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return (1...16).contains(method.utf8.count) && method.utf8.allSatisfy(letters.contains) ? method : anyPath
    }
}

extension AccessDecision {
    /// Whether the audit log has the decision for any method. Requests that only read what the agent keeps would fill it.
    func isRecorded(_ method: String) -> Bool {
        isRefused || check != nil || enforced != nil && !AuditedRequest.readers.contains(method)
    }
}
