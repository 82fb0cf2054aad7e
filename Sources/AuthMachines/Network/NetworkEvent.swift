package import AuthModel
package import AuthWire

/// A change of the network, or new information about it.
package enum NetworkEvent: Sendable {
    /// There are listeners from now on.
    case began
    case reading(NetworkReading)
    /// The providers of the current sessions, each with its probes.
    case inUse([String: Set<Probe>])
    /// A call is to be sent there. It is answered when a probe has ended, if one is needed: after ``Probe/limit`` at most.
    case clearanceRequested(CallerID, Origin)
    case callerGone(CallerID)
    /// A probe has ended.
    case probed(Origin, round: Int, Reachability)
    /// A real call that was sent in that round has ended.
    case callEnded(Origin, round: Int, Reachability)
    /// The measured clock skew of that origin.
    case skewMeasured(Origin, ClockSkew)
    /// The sessions have got the state of their origins.
    case sessionsNotified
    case sleeping
    case resumed
    case clockSet
    case wake
}

package enum NetworkAction: Sendable, Equatable {
    /// Later requests use new connections; if abandoning, those in progress end now.
    case closeIdleConnections(abandoning: Bool)
    case probe(Probe, round: Int)
    /// The visible state has changed.
    ///
    /// - Parameter providers: by provider, `reachable` or the kind of the error.
    case publish(NetworkState, providers: [String: String])
    /// The providers whose clocks are so far from ours that users are notified.
    case publishSkews([String: Duration])
    /// The state of an origin has changed: sessions get their own. ``NetworkEvent/sessionsNotified`` follows.
    case notifySessions
}

/// The network for one origin. A higher version is newer.
package struct VersionedNetworkState: Sendable, Equatable {
    package let state: NetworkState
    package let version: UInt64

    package init(state: NetworkState, version: UInt64) {
        self.state = state
        self.version = version
    }
}

/// Whether a call may be sent to an origin now.
package enum Clearance: Sendable, Equatable {
    /// - Parameter round: for ``NetworkEvent/callEnded(_:round:_:)``.
    case go(round: Int)
    case blocked(NetworkState)
}
