import AuthModel
import AuthWire

/// What a client sees on the bus: the agent's properties, and an object for each session. It contains no secret.
struct BusView: Equatable {
    typealias Properties = [BusValue.Entry]

    static let agentInterface = "org.authd.Agent1"
    static let sessionInterface = "org.authd.Session1"

    let agent: Properties
    let sessions: [SessionName: Properties]

    /// - Parameters:
    ///   - statuses: of the sessions that the client may see.
    ///   - network, store: `nil`: the client may not see it.
    init(_ statuses: [SessionStatus], network: NetworkState?, store: StoreInfo?) {
        let chosen = statuses.first(where: \.isDefault)?.session
        agent = [
            .init(key: "Version", value: .string(Release.version)),
            .init(key: "DefaultSession", value: .path(chosen.map(BusPath.session) ?? "/")),
            .init(key: "Network", value: .string(network?.rawValue ?? "")),
            .init(key: "Store", value: .string(store?.kind.rawValue ?? "")),
            .init(key: "StoreState", value: .string(store?.state.rawValue ?? "")),
        ]
        sessions = Dictionary(
            statuses.map { ($0.session, Self.properties(of: $0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// What is not known is an empty text, 0 or an empty list, because D-Bus has no null.
    private static func properties(of status: SessionStatus) -> Properties {
        var user = JSONObject()
        if let known = status.user { user = known.json.objectValue ?? user }
        return [
            .init(key: "Name", value: .string(status.session.text)),
            .init(key: "Provider", value: .string(status.provider)),
            .init(key: "Environment", value: .string(status.environment ?? "")),
            .init(key: "State", value: .string(status.state.rawValue)),
            .init(key: "Cause", value: .string(status.cause ?? "")),
            .init(key: "Message", value: .string(status.message ?? "")),
            .init(key: "User", value: .table(user)),
            .init(key: "NeedsPassword", value: .bool(status.needsPassword)),
            .init(key: "Renews", value: .bool(status.renews)),
            .init(key: "ExpiresAt", value: seconds(status.expiresAt)),
            .init(key: "RefreshAt", value: seconds(status.refreshAt)),
            .init(key: "IssuedAt", value: seconds(status.issuedAt)),
            .init(key: "EndsAt", value: seconds(status.endsAt)),
            .init(key: "SignedInAt", value: seconds(status.signedInAt)),
            .init(key: "LastError", value: .string(status.lastError ?? "")),
            .init(key: "Unsaved", value: .bool(status.unsaved)),
            .init(key: "Scopes", value: .strings(status.scopes ?? [])),
            .init(key: "Default", value: .bool(status.isDefault)),
        ]
    }

    /// Whole Unix seconds.
    private static func seconds(_ time: Double?) -> BusValue {
        .integer(time.flatMap { Int64(exactly: $0.rounded(.down)) } ?? 0)
    }

    /// The properties of an object; `nil` if there is no such object.
    func properties(at path: String) -> (interface: String, Properties)? {
        if path == BusPath.agent { return (Self.agentInterface, agent) }
        guard let name = BusPath.session(at: path), let found = sessions[name] else { return nil }
        return (Self.sessionInterface, found)
    }

    // MARK: Changes

    enum Change: Equatable {
        case added(path: String, Properties)
        case changed(path: String, interface: String, Properties)
        case removed(path: String)
    }

    /// In the order in which they are reported: `DefaultSession` never names an object that was removed before.
    func changes(since former: BusView) -> [Change] {
        var changes: [Change] = []
        for (name, properties) in sessions.sorted(by: { $0.key < $1.key }) {
            let path = BusPath.session(name)
            guard let known = former.sessions[name] else {
                changes.append(.added(path: path, properties))
                continue
            }
            let different = Self.different(properties, from: known)
            if different.isEmpty { continue }
            changes.append(.changed(path: path, interface: Self.sessionInterface, different))
        }
        let different = Self.different(agent, from: former.agent)
        if !different.isEmpty {
            changes.append(.changed(path: BusPath.agent, interface: Self.agentInterface, different))
        }
        for name in former.sessions.keys.sorted() where sessions[name] == nil {
            changes.append(.removed(path: BusPath.session(name)))
        }
        return changes
    }

    /// Both have the same keys in the same order.
    private static func different(_ now: Properties, from former: Properties) -> Properties {
        zip(now, former).filter { $0 != $1 }.map(\.0)
    }
}
