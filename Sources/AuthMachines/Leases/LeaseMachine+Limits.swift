extension LeaseMachine {
    /// What a lease must still last for a hold to begin.
    static let shortestLease = Duration.seconds(5)
    /// A lease counts as ended here this long before etcd ends it.
    static let margin = Duration.seconds(1)
    static let keepAliveInterval = Duration.seconds(3)
    static let retryPause = Duration.seconds(1)
    /// The limit of a renewal if hosts share the session: a request of another host may be on its way for that long.
    package static let requestLimit = Duration.seconds(30)
    /// If no report comes that a session is free, this host looks again.
    static let checkInterval = Duration.seconds(3)
    /// How long a renewal waits for another host.
    package static let longestWait = Duration.seconds(45)
    /// How long this host holds a session at most: the turn at the provider, a response, and a store that fails for a while.
    package static let longestHold = Duration.seconds(180)
}
