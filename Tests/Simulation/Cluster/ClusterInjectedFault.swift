/// A fault between the machines of a host and etcd, which the checker must find.
package enum ClusterInjectedFault: String, InjectedFault {
    /// The provider is contacted without a hold.
    case renewsWithoutHold
    /// A hold ends when the provider has replaced the refresh token, before the response arrives.
    case releasesEarly
    /// The next holder does not know that tokens may be used up.
    case forgetsIntents
    /// Hosts do not get the tokens that the provider returns.
    case losesTokens
    /// The provider ends a session after it has renewed it, without an error.
    case endsSessions
    /// A host that reaches etcd again does not read what has changed.
    case missesChanges
    /// The watch does not report that a session was removed.
    case hidesSignOuts
    /// The watch reports changes 200 ms later.
    case delaysReports
    /// Hosts write dates by their own clocks, and others compare these with their own clocks.
    case writesOwnDates
    /// Records are written whatever etcd has.
    case writesWithoutHold
    /// The same as ``writesWithoutHold``, in schedules in which etcd has newer tokens.
    case writesOldTokens
    /// A lease ends during a long renewal.
    case keepsNoLease
    /// No record with new tokens reaches etcd, and its host gets no response.
    case losesWrites
    /// etcd ends no lease.
    case endsNoLease
    /// Those that wait for the end of a session get no reply.
    case forgetsCallers

    package var rule: Rule {
        switch self {
        case .renewsWithoutHold, .releasesEarly, .forgetsIntents: .clusterAlone
        case .losesTokens: .clusterReuse
        case .endsSessions: .clusterLost
        case .missesChanges, .losesWrites: .clusterConvergence
        case .hidesSignOuts: .clusterSignOutTime
        case .delaysReports: .clusterDelivery
        case .writesOwnDates: .clusterClocks
        case .writesWithoutHold: .clusterSignOut
        case .writesOldTokens: .clusterOrder
        case .keepsNoLease, .endsNoLease, .forgetsCallers: .clusterLiveness
        }
    }
}
