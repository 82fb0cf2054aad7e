/// How far the machine's network reaches.
public enum NetworkState: String, Sendable, CaseIterable {
    case online
    /// There is a network, but not all of the Internet.
    case limited
    /// The network shows its sign-in page instead of the Internet.
    case portal
    case offline
}

/// The result of `network.status`.
public struct NetworkStatus: WireObject {
    /// The word for a provider that has answered.
    public static let reachable = "reachable"

    public var state = NetworkState.offline
    /// Unix seconds.
    public var since: Double = 0
    /// How each provider was reached last, by its name: ``reachable``, or the kind of the error.
    public var providers: [String: String] = [:]
    /// How far the clocks of providers are ahead of this machine's, or below zero behind it, by their names; only where
    /// that is a minute or more.
    public var clockSkews: [String: Duration] = [:]
    /// The user pays by volume, or the volume is limited, as the desktop reports it.
    public var isMetered = false
    /// Queued writes and streams wait, because the settings say so for a metered network.
    public var transfersWait = false

    public init(blank: Blank) {}
    public init(
        state: NetworkState, since: Double, providers: [String: String] = [:], clockSkews: [String: Duration] = [:],
        isMetered: Bool = false, transfersWait: Bool = false
    ) {
        self.state = state
        self.since = since
        self.providers = providers
        self.clockSkews = clockSkews
        self.isMetered = isMetered
        self.transfersWait = transfersWait
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("state", &state, .word)
        try visitor.required("since", &since, .instant)
        try visitor.written("providers", &providers, .stringsByName)
        try visitor.optional("clock_skew_ms", &clockSkews, .skewsByName, default: [:])
        try visitor.optional("metered", &isMetered, .bool, default: false)
        try visitor.optional("transfers_wait", &transfersWait, .bool, default: false)
    }
}
