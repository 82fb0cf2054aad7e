import AuthAgent
import AuthModel
import AuthWire

/// The sessions whose status a rule denies to a client. They are not listed, and no event names them or their
/// providers.
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
        // A snapshot of one session must not cost as much as one of all.
        let statuses = if let session { [board.status(session)].compactMap(\.self) } else { board.statuses() }
        return AgentEvent(
            snapshot: hidden?.without(statuses) ?? statuses,
            network: hidden?.network(board.network, on: board) ?? board.network,
            store: hidden?.withoutMessage(board.store) ?? board.store, lock: board.lock, at: now.unixSeconds)
    }

    func without(_ statuses: [SessionStatus]) -> [SessionStatus] {
        statuses.filter { !contains($0.session) }.map { Self.visible($0, contains) }
    }

    /// The status without the session whose sign-in it uses, if that session is hidden, and without texts that may name
    /// it.
    private static func visible(_ status: SessionStatus, _ isHidden: (SessionName) -> Bool) -> SessionStatus {
        guard let shared = status.sharedSession, isHidden(shared) else { return status }
        var visible = status
        (visible.sharedSession, visible.message) = (nil, nil)
        (visible.lastError, visible.storeError) = (nil, nil)
        return visible
    }

    /// The event as the client receives it; `nil` if the client does not receive it.
    func event(_ event: AgentEvent, on board: StateBoard) -> AgentEvent? {
        if let session = event.session, contains(session) { return nil }
        var visible = event
        visible.status = event.status.flatMap { without([$0]).first }
        visible.network = event.network.map { network($0, on: board) }
        visible.store = event.store.map(withoutMessage)
        return visible
    }

    /// The store without its message, which may name sessions whose records are damaged.
    func withoutMessage(_ store: StoreInfo) -> StoreInfo { Self.withoutMessage(store) }

    private static func withoutMessage(_ store: StoreInfo) -> StoreInfo {
        StoreInfo(kind: store.kind, state: store.state)
    }

    /// The providers of the sessions that the client may see. Any other name would show that there is or was a hidden
    /// session.
    func providers(on board: StateBoard) -> Set<String> { Set(without(board.statuses()).map(\.provider)) }

    func network(_ network: NetworkStatus, on board: StateBoard) -> NetworkStatus {
        let named = providers(on: board)
        var visible = network
        visible.providers = network.providers.filter { named.contains($0.key) }
        visible.clockSkews = network.clockSkews.filter { named.contains($0.key) }
        return visible
    }

    /// Counters that do not depend on sessions are unchanged.
    func stats(_ stats: AgentStats, on board: StateBoard) -> AgentStats {
        let named = providers(on: board)
        var visible = stats
        visible.sessions -= board.statuses().count { contains($0.session) && board.snapshot($0.session) != nil }
        visible.renewals = board.sessionRenewals.reduce(0) { contains($1.key) ? $0 : $0 + $1.value }
        visible.tokenRequests = stats.tokenRequests.filter { named.contains($0.provider) }
        return visible
    }

    /// The methods whose result is the status of a session.
    static let statuses: Set<String> = [
        SessionStatusGet.name, SessionWait.name, SessionRefresh.name, SessionValidate.name, TokenReject.name,
        SessionUse.name, SessionLogout.name,
    ]

    /// The part of a method's result that is about sessions.
    private enum Part {
        /// The items of this list.
        case list(String)
        /// The whole result: the status of a session.
        case status
        /// The status in `status`.
        case statusMember
        /// The store's message in the result, which is the status of the store.
        case storeMessage
    }

    /// `nil`: no part is about sessions, or the method itself leaves hidden ones out, as `audit.list` does.
    private static func part(of method: String) -> Part? {
        switch method {
        case SessionListGet.name: .list("sessions")
        case ClusterStatusGet.name: .list("renewals")
        case ConsentListGet.name: .list("questions")
        case PolicyReplay.name: .list("changes")
        case OutboxListGet.name, OutboxFlush.name, OutboxDrop.name: .list("entries")
        case SessionTrust.name, LoginStart.name, LoginAnswer.name, LoginCheck.name, LoginWait.name: .statusMember
        case StoreUnlock.name: .storeMessage
        default: statuses.contains(method) ? .status : nil
        }
    }

    /// The same handling of a method that lists sessions, without the hidden ones, and of any method, without names of
    /// them in errors.
    func filtering(_ handling: RequestHandling, of method: String) -> RequestHandling {
        let part = Self.part(of: method)
        return handling.wrapping(
            now: { $0.map { Self.filtered($0, part, contains) }.mapError(Self.filtered) },
            work: { filtering($0, part) },
            opening: { $0.changingErrors(Self.filtered) })
    }

    private func filtering(_ work: @escaping RequestTask.Work, _ part: Part?) -> RequestTask.Work {
        // If the store has not been read yet, the list is not known, but the facts about the caller are.
        let isHidden = part == nil ? nil : rule
        return { end async throws(AgentError) in
            let payload: Payload
            do throws(AgentError) {
                payload = try await work(end)
            } catch {
                throw Self.filtered(error)
            }
            guard let isHidden else { return payload }
            guard case .value(let json) = payload else { return .value([:]) }
            return .value(Self.filtered(json, part, isHidden))
        }
    }

    private static func filtered(_ json: JSON, _ part: Part?, _ isHidden: (SessionName) -> Bool) -> JSON {
        switch part {
        case .list(let key): return filtered(json, key) { !isHidden($0) }
        case .status: return visible(json, isHidden)
        case .statusMember:
            guard var object = json.objectValue, let status = object["status"] else { return json }
            object["status"] = visible(status, isHidden)
            return .object(object)
        case .storeMessage: return (try? StoreInfo(json)).map { withoutMessage($0).json } ?? json
        case nil: return json
        }
    }

    private static func visible(_ json: JSON, _ isHidden: (SessionName) -> Bool) -> JSON {
        guard let status = try? SessionStatus(json) else { return json }
        let visible = visible(status, isHidden)
        return visible == status ? json : visible.json
    }

    /// The error without the names of sessions to choose from, and of other sessions. The default session may be
    /// hidden, too.
    @Sendable static func filtered(_ error: AgentError) -> AgentError {
        guard let cause = error.cause else { return error }
        var visible = error
        switch cause {
        case AgentError.noDefaultCause, AgentError.severalSessionsCause: break
        case AgentError.otherOriginCause: visible.message = AgentError.otherOriginText
        default:
            guard let text = AgentError.textWithoutOtherSessions(of: error) else { return error }
            visible.message = text
        }
        visible.details = []
        return visible
    }

    /// ``contains(_:)``, for a thread that may not read facts about the caller.
    var rule: @Sendable (SessionName) -> Bool {
        let facts = access.facts(of: caller, for: .program)
        return { [access] in access.hides($0, given: facts) }
    }

    private static func filtered(_ json: JSON, _ key: String, _ isVisible: (SessionName) -> Bool) -> JSON {
        guard var object = json.objectValue else { return json }
        let items = object[key]?.arrayValue ?? []
        object[key] = .array(
            items.filter { item in
                // Some items are about no session.
                guard let name = item["session"]?.stringValue else { return true }
                return (try? SessionName(name)).map(isVisible) ?? false
            })
        return .object(object)
    }
}
