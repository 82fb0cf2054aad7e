package import AuthWire

/// What happens to the network, or is learnt of it.
package enum NetworkEvent: Sendable {
    case reading(NetworkReading)
    /// The origins of all sessions.
    case inUse(Set<ProviderOrigin>)
    /// A call wants to go there.
    case wanted(ProviderOrigin)
    /// What came of a probe.
    case probed(ProviderOrigin, round: Int, Reachability)
    /// What came of a real call that was sent in that round.
    case heard(ProviderOrigin, round: Int, Reachability)
    case goingToSleep
    case resumed
    case wake
}

/// What is to be done about it.
package enum NetworkAction: Sendable, Equatable {
    /// Later requests begin on new connections; abandoned, those under way end now.
    case dropConnections(abandoning: Bool)
    case probe(ProviderOrigin, round: Int)
    /// What others see has changed.
    case publish(NetworkPicture)
    /// Of some origin it has changed whether calls may go there.
    case tell
    /// The next deadline; it replaces the one before. `nil`: none.
    case wakeAt(BootInstant?)
}

/// What is known of the network.
package struct NetworkPicture: Sendable, Equatable {
    package var state: NetworkState
    /// `reachable`, or the kind of the error.
    package var origins: [ProviderOrigin: String]
}

/// What the network is like for one origin. Of two, the one with the higher version is the newer.
package struct NetworkNews: Sendable, Equatable {
    package let state: NetworkState
    package let version: UInt64

    package init(state: NetworkState, version: UInt64) {
        self.state = state
        self.version = version
    }
}

/// Whether a call may go to an origin now.
package enum Clearance: Sendable, Equatable {
    /// - Parameter round: to be told with what comes of it.
    case go(round: Int)
    /// It is being probed.
    case wait
    case no(NetworkState)
}
