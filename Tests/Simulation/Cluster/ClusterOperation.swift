/// What can be done to the hosts of a cluster. Hosts are numbered from 0.
package enum ClusterOperation: Sendable, Equatable {
    case ask(Int, ClusterAsk)
    /// No message goes between the host and etcd.
    case cut(Int, for: Duration)
    /// etcd carries out what the host requests, and its responses are lost.
    case loseAnswers(Int, for: Duration)
    /// The process does not run, and its clocks go on.
    case pause(Int, for: Duration)
    /// The process is killed, and started again later.
    case kill(Int, down: Duration)
    /// A majority of the members does not answer. Leases end when that is over, or later.
    case etcdGone(for: Duration)
    case provider(ProviderBehaviour)
    /// The host's wall clock is set. The time since its boot goes on.
    case setClock(Int, by: Duration)
}

package enum ClusterAsk: Sendable, Equatable {
    case token, renewal, signOut
    /// A 401 with the token in use.
    case reject
    /// A change of the user's data.
    case userChange
}
