import AuthAgent
import AuthModel
import AuthWire

/// The sessions whose status a rule denies to a client. They are not listed, and no event names them.
struct HiddenSessions {
    private let access: AccessControl
    private let caller: Caller

    /// - Returns: `nil` if no rule can hide a session from this client. A confined client has its own filter.
    init?(_ access: AccessControl, for caller: Caller) {
        guard caller.confinement == nil, access.mayHideSessions else { return nil }
        (self.access, self.caller) = (access, caller)
    }

    func contains(_ session: SessionName) -> Bool { access.hides(session, from: caller) }

    /// The snapshot for a client that is not confined.
    static func snapshot(
        of session: SessionName?, _ board: StateBoard, without hidden: HiddenSessions?, at now: WallTime
    ) -> AgentEvent {
        let statuses = board.statuses().filter { session == nil || $0.session == session }
        return AgentEvent(
            snapshot: hidden?.without(statuses) ?? statuses, network: board.network,
            store: hidden?.withoutMessage(board.store) ?? board.store, lock: board.lock, at: now.unixSeconds)
    }

    func without(_ statuses: [SessionStatus]) -> [SessionStatus] {
        statuses.filter { !contains($0.session) }.map { status in
            guard let shared = status.sharedSession, contains(shared) else { return status }
            // Texts may name the session whose sign-in is used.
            var visible = status
            (visible.sharedSession, visible.message) = (nil, nil)
            (visible.lastError, visible.storeError) = (nil, nil)
            return visible
        }
    }

    /// Whether the client receives the event.
    func allow(_ event: AgentEvent) -> Bool { event.session.map { !contains($0) } ?? true }

    /// The event as it is sent to the client.
    func line(of event: AgentEvent) -> [UInt8] {
        var visible = event
        visible.status = event.status.flatMap { without([$0]).first }
        visible.store = event.store.map(withoutMessage)
        return RPCReply.notification(visible).serialized()
    }

    /// The store without its message, which may name sessions whose records are damaged.
    func withoutMessage(_ store: StoreInfo) -> StoreInfo { StoreInfo(kind: store.kind, state: store.state) }

    /// The same handling of `session.list`, without the hidden ones, and of any method, without names of them in errors.
    func filtering(_ handling: RequestHandling, of method: String) -> RequestHandling {
        switch handling {
        case .now(let result):
            return .now(result.map { filtered($0, of: method) }.mapError(filtered))
        case .later(let limit, let work, let trail, let endsAtLock) where method == SessionListGet.name:
            // The store has not been read yet, but the facts about the caller are known.
            let isHidden = rule
            return .later(
                within: limit,
                { end async throws(AgentError) in
                    guard case .value(let json) = try await work(end) else { return .value([:]) }
                    return .value(Self.list(json) { !isHidden($0) })
                }, trail, endsAtLock: endsAtLock)
        default: return handling
        }
    }

    private func filtered(_ json: JSON, of method: String) -> JSON {
        method == SessionListGet.name ? Self.list(json) { !contains($0) } : json
    }

    /// The details of an error that lists the sessions to choose from.
    private func filtered(_ error: AgentError) -> AgentError {
        guard error.cause == AgentError.noDefaultCause else { return error }
        var visible = error
        visible.details = []
        return visible
    }

    private var rule: @Sendable (SessionName) -> Bool {
        let facts = access.facts(of: caller, for: .program)
        return { [access] session in
            let request = AccessRequest(
                method: SessionStatusGet.name, access: SessionStatusGet.access, target: .named(session))
            return access.policy.decision(about: request) { _ in facts }.isRefused
        }
    }

    private static func list(_ json: JSON, _ isVisible: (SessionName) -> Bool) -> JSON {
        guard var object = json.objectValue else { return json }
        let sessions = object["sessions"]?.arrayValue ?? []
        object["sessions"] = .array(
            sessions.filter { status in
                guard let name = status["session"]?.stringValue, let session = try? SessionName(name) else {
                    return false
                }
                return isVisible(session)
            })
        return .object(object)
    }
}
