package import AuthWire

/// A fault of the cluster that sessions are kept in (Docs/decisions/cluster.md). ``name`` is the cause of an error, and
/// the name of an event of topic `store`.
package enum ClusterFault: Error, Sendable, Hashable {
    /// No member responded.
    case unreachable(reason: String)
    /// Members respond, but no majority of them is connected.
    case noQuorum
    /// etcd stores nothing more until an administrator has made room (its NOSPACE alarm).
    case noSpace
    /// User, password, certificate or role are refused.
    case denied(reason: String)
    /// A token of etcd was no longer valid. A new one was requested.
    case tokenExpired
    /// Changes were removed before this agent had read them. Everything is read again.
    case compacted
    /// The stream of changes ended. Everything is read again.
    case watchLost(reason: String)
    /// The member that sends changes is behind the others. Another one is used.
    case lagging
    /// etcd has an older state than before: a backup was restored. What this agent has in memory is written again.
    case wentBack
    /// etcd refused the mark that shows other hosts that a backup was restored (`PREFIX/history`).
    case markRefused(reason: String)
    /// No host of the cluster has admitted this one.
    case notAdmitted
    /// The sessions belong to a different cluster than this host does.
    case otherCluster
    /// A record is larger than etcd accepts; the limit is 0 if etcd has a lower one than usual, which it does not report.
    case tooLarge(bytes: Int, limit: Int)
    /// Other hosts changed the same record at every attempt.
    case contended
    /// Another host renews this session.
    case heldElsewhere
    /// The lease of this host has ended, as after a sleep.
    case leaseLost
    /// Another host has signed out of this session.
    case removed
    /// The record of one session cannot be read. The others can.
    case damaged(SessionName, reason: String)
    /// The response is not one of etcd's, or a record of the cluster is damaged.
    case invalid(reason: String)

    /// Each name begins with it.
    static let prefix = "cluster_"

    package var name: String {
        switch self {
        case .unreachable: "cluster_unreachable"
        case .noQuorum: "cluster_no_quorum"
        case .noSpace: "cluster_no_space"
        case .denied: "cluster_denied"
        case .tokenExpired: "cluster_token_expired"
        case .compacted: "cluster_compacted"
        case .watchLost: "cluster_watch_lost"
        case .lagging: "cluster_lagging"
        case .wentBack: "cluster_went_back"
        case .markRefused: "cluster_mark_refused"
        case .notAdmitted: "cluster_not_admitted"
        case .otherCluster: "cluster_other"
        case .tooLarge: "cluster_record_too_large"
        case .contended: "cluster_contended"
        case .heldElsewhere: "cluster_held_elsewhere"
        case .leaseLost: "cluster_lease_lost"
        case .removed: "cluster_removed"
        case .damaged: "cluster_record_damaged"
        case .invalid: "cluster_invalid"
        }
    }

    /// For the user.
    package var message: String {
        switch self {
        case .unreachable(let reason): "No member of etcd can be reached: \(reason)."
        case .noQuorum: "etcd has no leader: a majority of its members is not connected."
        case .noSpace: "etcd is out of space (its NOSPACE alarm): compact and defragment it, then disarm the alarm."
        case .denied(let reason): "etcd refused the request: \(reason)."
        case .tokenExpired: "The token of etcd had expired. authd has requested a new one."
        case .compacted: "etcd removed changes before authd read them. authd has read everything again."
        case .watchLost(let reason): "etcd no longer sent changes (\(reason)). authd has read everything again."
        case .lagging: "A member of etcd is behind the others. authd uses another one."
        case .wentBack: "etcd has an older state than before, as after a restored backup. authd writes what is newer."
        case .markRefused(let reason):
            "authd could not record in etcd that a backup was restored, so other hosts may not notice it (\(reason)). "
                + "Give the user of etcd `readwrite` for all keys below etcd.prefix, and check that etcd has space."
        case .notAdmitted: "This host is not a member of the cluster: run `authc cluster join` here."
        case .otherCluster:
            "The sessions in etcd belong to a different cluster than this host: check the prefix, or what has replaced it."
        case .tooLarge(let bytes, let limit):
            "A record has \(bytes) bytes, and etcd accepts \(limit == 0 ? "fewer" : String(limit)) in one request "
                + "(--max-request-bytes)."
        case .contended: "Other hosts changed the same record at every attempt."
        case .heldElsewhere: "Another host is renewing this session. authd tries again."
        case .leaseLost:
            "This host's lease in etcd ended during a renewal, as after a sleep. authd reads the stored session before it "
                + "writes."
        case .removed: "Another host has signed out of this session."
        case .damaged(let session, let reason): "The record of session \(session) cannot be read (\(reason))."
        case .invalid(let reason): "etcd returned something invalid: \(reason)."
        }
    }

    /// Whether it ends by itself when members respond again.
    package var isConnection: Bool {
        switch self {
        case .unreachable, .noQuorum: true
        default: false
        }
    }
}
