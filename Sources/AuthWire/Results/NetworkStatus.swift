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
    /// The word for a provider that has answered.
    public static let reachable = "reachable"

    public var state: NetworkState
    /// Unix seconds.
    public var since: Double
    /// How each provider was reached last, by its name: ``reachable``, or the kind of the error.
    public var providers: [String: String]
    /// How far the clocks of providers are ahead of this machine's, or below zero behind it, by their names; only where
    /// that is a minute or more.
    public var clockSkews: [String: Duration]

    public init(
        state: NetworkState, since: Double, providers: [String: String] = [:], clockSkews: [String: Duration] = [:]
    ) {
        self.state = state
        self.since = since
        self.providers = providers
        self.clockSkews = clockSkews
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        state = try members.required("state", .word)
        since = try members.required("since", .instant)
        providers = try members.optional("providers", .stringsByName) ?? [:]
        clockSkews = try members.optional("clock_skew_ms", .skewsByName) ?? [:]
    }

    public var json: JSON {
        var object: JSONObject = [
            "state": .string(state.rawValue), "since": .instant(since), "providers": .text(providers),
        ]
        if !clockSkews.isEmpty {
            var skews = JSONObject()
            for (name, skew) in clockSkews.sorted(by: { $0.key < $1.key }) { skews[name] = .milliseconds(skew) }
            object["clock_skew_ms"] = .object(skews)
        }
        return .object(object)
    }
}

extension Wanted where Value == [String: Duration] {
    static let skewsByName = Wanted("an object whose values are whole milliseconds") { json in
        guard let object = json.objectValue else { return nil }
        var skews: [String: Duration] = [:]
        for (key, value) in object {
            guard let skew = Wanted<Duration>.skew.read(value) else { return nil }
            skews[key] = skew
        }
        return skews
    }
}

extension Wanted where Value == Duration {
    /// Unlike other lengths it may be below zero.
    static let skew = Wanted("a whole number of milliseconds") { $0.integerValue.map { .milliseconds($0) } }
}
