/// How far the machine's network reaches.
public enum NetworkState: String, Sendable, CaseIterable {
    case online
    /// There is a network, but not all of the Internet.
    case limited
    /// A sign-in page of the network stands in the way.
    case portal
    case offline
}

/// Of `network.status`.
public struct NetworkStatus: Sendable, Equatable {
    public var state: NetworkState
    /// Unix seconds.
    public var since: Double
    /// How each provider was reached last, by its name: `reachable`, or the kind of the error.
    public var providers: [String: String]

    public init(state: NetworkState, since: Double, providers: [String: String] = [:]) {
        self.state = state
        self.since = since
        self.providers = providers
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        state = try members.required("state", .word)
        since = try members.required("since", .instant)
        providers = try members.optional("providers", .stringsByName) ?? [:]
    }

    public var json: JSON {
        ["state": .string(state.rawValue), "since": .instant(since), "providers": .text(providers)]
    }
}
