import AuthAgent
import AuthModel
import AuthWire

/// What a confined client sees: the sessions that the rules of its listener list, and their providers. Everything that
/// is sent to such a client passes through this value: results, errors, events and snapshots.
struct Visibility {
    let rules: ListenerRules
    private let client: ConfinedClient
    /// By name. Each is `default` only if it is the default one for this client.
    let statuses: [SessionStatus]

    init(_ rules: ListenerRules, _ board: StateBoard, for client: ConfinedClient) {
        self.rules = rules
        self.client = client
        var visible = board.statuses().filter { rules.sessions.contains($0.session) }
        // The session that the user chose may be a hidden one, so that choice does not count.
        let preferred = visible.contains { $0.session == board.preferredSession } ? board.preferredSession : nil
        let chosen = preferred ?? (visible.count == 1 ? visible[0].session : nil)
        for index in visible.indices {
            visible[index].isDefault = visible[index].session == chosen
            visible[index] = Self.hidingSharedSignIn(of: visible[index], rules)
        }
        statuses = visible
    }

    /// Texts may name the session whose sign-in is used.
    private static func hidingSharedSignIn(of status: SessionStatus, _ rules: ListenerRules) -> SessionStatus {
        guard let shared = status.sharedSession, !rules.sessions.contains(shared) else { return status }
        var visible = status
        visible.sharedSession = nil
        visible.message = nil
        visible.lastError = nil
        visible.storeError = nil
        return visible
    }

    /// The session that is meant if none is named.
    /// - Throws: `not_signed_in` if it is unknown which one is meant.
    func defaultSession() throws(AgentError) -> SessionName {
        if let session = statuses.first(where: \.isDefault)?.session { return session }
        if let only = rules.sessions.first, rules.sessions.count == 1 { return only }
        throw statuses.isEmpty ? .noSession : .noDefault(statuses)
    }

    var providers: Set<String> { Set(statuses.map(\.provider)) }

    // MARK: Results

    /// The result of a method as this client receives it.
    func result(_ json: JSON, of method: String) -> JSON {
        switch method {
        case SessionListGet.name: with(json) { $0["sessions"] = .array(statuses.map(\.json)) }
        case let method where HiddenSessions.statuses.contains(method): status(json)
        case ProviderListGet.name:
            with(json) { object in
                let listed = object["providers"]?.arrayValue ?? []
                object["providers"] = .array(
                    listed.filter { providers.contains($0["name"]?.stringValue ?? "") }.map(provider))
            }
        case ProviderShow.name: provider(json)
        case NetworkStatusGet.name: network(json)
        case ClusterStatusGet.name:
            with(json) { object in
                let renewals = object["renewals"]?.arrayValue ?? []
                var visible = JSONObject()
                visible["hosts"] = object["hosts"]
                visible["renewals"] = .array(
                    renewals.filter { renewal in
                        rules.sessions.contains { $0.text == renewal["session"]?.stringValue }
                    })
                object = visible
            }
        case AgentInfoGet.name:
            with(json) { object in
                var visible = JSONObject()
                for key in ["version", "protocol"] { visible[key] = object[key] }
                object = visible
            }
        default: json
        }
    }

    private func status(_ json: JSON) -> JSON {
        guard let status = try? SessionStatus(json) else { return [:] }
        return self.status(status).json
    }

    private func status(_ status: SessionStatus) -> SessionStatus {
        var visible = Self.hidingSharedSignIn(of: status, rules)
        visible.isDefault = statuses.contains { $0.isDefault && $0.session == status.session }
        return visible
    }

    /// Without the path of the profile, and without environments that no visible session uses.
    private func provider(_ json: JSON) -> JSON {
        with(json) { object in
            let name = object["name"]?.stringValue
            let used = Set(statuses.filter { $0.provider == name }.compactMap(\.environment))
            func isUsed(_ environment: JSON?) -> Bool { environment?.stringValue.map(used.contains) ?? false }
            if object["source"]?.stringValue?.hasPrefix("/") == true { object["source"] = "file" }
            if let all = object["environments"]?.arrayValue {
                object["environments"] = .array(all.filter { isUsed($0["name"] ?? $0) })
            }
            if let all = object["hosts"]?.arrayValue {
                object["hosts"] = .array(all.filter { $0["environment"] == nil || isUsed($0["environment"]) })
            }
        }
    }

    private func network(_ json: JSON) -> JSON {
        with(json) { object in
            for key in ["providers", "clock_skew_ms"] {
                guard let all = object[key]?.objectValue else { continue }
                var visible = JSONObject()
                for name in all.keys where providers.contains(name) { visible[name] = all[name] }
                object[key] = .object(visible)
            }
        }
    }

    private func with(_ json: JSON, _ change: (inout JSONObject) -> Void) -> JSON {
        guard var object = json.objectValue else { return json }
        change(&object)
        return .object(object)
    }

    // MARK: Errors

    /// The error without the names of other sessions.
    func error(_ error: AgentError) -> AgentError {
        var visible = error
        switch error.cause {
        case AgentError.otherOriginCause, AgentError.severalSessionsCause:
            visible.message = AgentError.otherOriginText
            visible.cause = AgentError.otherOriginCause
        case AgentError.confinedCause:
            visible.message = "\(client.text): \(error.message)"
            return visible
        case "insufficient_scope", AgentError.noDefaultCause: return visible
        default:
            if let text = AgentError.textWithoutOtherSessions(of: error) {
                visible.message = text
            } else if error.kind == .validation {
                return visible
            }
        }
        visible.details = []
        return visible
    }

    // MARK: Events

    /// The event as this client receives it; `nil` if it does not.
    func event(_ event: AgentEvent) -> AgentEvent? {
        guard rules.allows(EventsSubscribe.name, EventsSubscribe.access) else { return nil }
        var visible = event
        switch event.topic {
        case .session:
            guard let session = event.session, rules.sessions.contains(session) else { return nil }
            visible.status = event.status.map { status($0) }
        case .network:
            if let network = event.network { visible.network = try? NetworkStatus(self.network(network.json)) }
        case .store: visible.store = event.store.map { StoreInfo(kind: $0.kind, state: $0.state) }
        // Their texts are for the user of the desktop.
        case .login, .outbox, .notice, .agent: return nil
        }
        return visible
    }

    /// - Parameter session: `nil`: all that are visible.
    func snapshot(of session: SessionName?, _ board: StateBoard, at now: WallTime) -> AgentEvent {
        let network = (try? NetworkStatus(network(board.network.json))) ?? NetworkStatus(state: .offline, since: 0)
        return AgentEvent(
            snapshot: statuses.filter { session == nil || $0.session == session }, network: network,
            store: StoreInfo(kind: board.store.kind, state: board.store.state), at: now.unixSeconds)
    }
}

extension AgentError {
    /// A message for a client that must not know about other sessions; `nil` if the messages of such errors name no
    /// session, or only those that the client may know about.
    static func textWithoutOtherSessions(of error: AgentError) -> String? {
        switch error.cause {
        case "shared_sign_in": "This session uses the sign-in of another one, which is not signed in."
        // The client's own file.
        case "damaged" where error.kind == .validation: nil
        // The store's message names the sessions whose records are damaged.
        case "damaged", StoreState.ready.rawValue:
            "The record of this session cannot be read. Signing in to it again replaces it, unless a newer authd wrote it."
        default: nil
        }
    }
}
