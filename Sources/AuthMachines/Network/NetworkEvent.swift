package import AuthModel
package import AuthWire

/// What happens to the network, or is learnt of it.
package enum NetworkEvent: Sendable {
    /// Somebody follows what it decides from now on.
    case began
    case reading(NetworkReading)
    /// The providers that sessions are at now, each with its places.
    case inUse([String: Set<Probe>])
    /// A call is to be sent there. It gets its reply when a probe has ended, if one is needed: after ``Probe/limit`` at most.
    case clearanceRequested(CallerID, Origin)
    case callerGone(CallerID)
    /// A probe has ended.
    case probed(Origin, round: Int, Reachability)
    /// A real call that was sent in that round has ended.
    case callEnded(Origin, round: Int, Reachability)
    /// The clock of that place is so far from ours.
    case skewMeasured(Origin, ClockSkew)
    /// The sessions know the state of their places.
    case sessionsNotified
    case sleeping
    case resumed
    case clockSet
    case wake
}

package enum NetworkAction: Sendable, Equatable {
    /// Later requests begin on new connections; abandoned, those under way end now.
    case closeIdleConnections(abandoning: Bool)
    case probe(Probe, round: Int)
    /// What others see has changed.
    ///
    /// - Parameter providers: by provider, `reachable` or the kind of the error.
    case publish(NetworkState, providers: [String: String])
    /// The providers whose clocks are so far from ours that users are notified.
    case publishSkews([String: Duration])
    /// The state of some place has changed: each session is to get that of its own. ``NetworkEvent/sessionsNotified`` follows.
    case notifySessions
}

/// What is known of the network.
package struct NetworkSnapshot: Sendable, Equatable {
    package var state: NetworkState
    /// `reachable`, or the kind of the error.
    package var origins: [Origin: String]

    package init(state: NetworkState, origins: [Origin: String]) {
        self.state = state
        self.origins = origins
    }
}

/// What the network is like for one origin. Of two, the one with the higher version is the newer.
package struct VersionedNetworkState: Sendable, Equatable {
    package let state: NetworkState
    package let version: UInt64

    package init(state: NetworkState, version: UInt64) {
        self.state = state
        self.version = version
    }
}

/// Whether a call may go to a place now.
package enum Clearance: Sendable, Equatable {
    /// - Parameter round: goes into ``NetworkEvent/callEnded(_:round:_:)``.
    case go(round: Int)
    case blocked(NetworkState)
}
