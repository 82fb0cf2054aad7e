import AuthWire

/// What one client may cost. The contract's own are in ``Limits``; a test may take smaller ones.
package struct ConnectionLimits: Sendable {
    package var lineBytes = Limits.lineBytes
    package var firstLine = Limits.firstLine
    package var connectionsPerProcess = Limits.connectionsPerProcess
    package var requestsPerConnection = Limits.requestsPerConnection

    package var streamsPerConnection = Limits.streamsPerConnection

    /// Of answers that the client has not taken yet: above it no further request of it is read.
    package var pauseAbove = 256 << 10

    /// Above it the connection ends: a subscriber that does not read must not make us keep the world's events.
    package var closeAbove = 4 << 20

    /// Of untaken answers, all connections together: above it the one that is written to ends.
    package var unsentInAll = 32 << 20

    /// How long a client that was told of a fatal error may go on writing before the connection ends under it:
    /// ending it with its bytes unread would cost it the error (unix(7), ECONNRESET).
    package var linger = Duration.seconds(1)

    /// Connections that linger at once; one more ends at once.
    package var lingering = 64

    /// Of one connection, by session: what it may make us keep.
    package var subscriptions = 64

    /// For requests under way when the agent is told to stop.
    package var stopGrace = Duration.seconds(5)

    /// For a request that names no `timeout_ms`.
    package var answer = Duration.seconds(60)

    /// The longest that a request may ask to wait.
    package var longestAnswer = Duration.seconds(86_400)

    package init() {}
}
