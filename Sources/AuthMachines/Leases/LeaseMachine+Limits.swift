extension LeaseMachine {
    /// What a lease must still last for a hold to begin.
    static let shortestLease = Duration.seconds(5)
    /// A lease counts as ended here this long before etcd ends it.
    static let margin = Duration.seconds(1)
    static let keepAliveInterval = Duration.seconds(3)
    static let retryPause = Duration.seconds(1)
    /// The limit of a renewal if hosts share the session: a request of another host may be on its way for that long.
    package static let requestLimit = Duration.seconds(30)
    /// A host that receives new tokens at that limit, and has lost its hold, has this time to write them before another host
    /// sends the former ones again.
    package static let writeTime = Duration.seconds(15)
    /// How long this host waits for the result of a renewal whose host has lost its hold. With the lease before it, less than a
    /// minute: some providers accept a used refresh token for that long.
    package static let longestResult = requestLimit + writeTime
    /// If no report comes that a session is free, this host looks again.
    static let checkInterval = Duration.seconds(3)
    /// How long a renewal waits for another host, which may wait for a result first.
    package static let longestWait = longestResult + requestLimit
    /// How long this host holds a session at most: the turn at the provider, a response, and a store that fails for a while.
    package static let longestHold = Duration.seconds(180)
}
