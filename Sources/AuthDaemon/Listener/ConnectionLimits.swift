import AuthWire

/// What one client may cost. The contract's own are in ``Limits``; a test may take smaller ones.
package struct ConnectionLimits: Sendable {
    package var lineBytes = Limits.lineBytes
    package var lineTime = Limits.lineTime
    package var lineValues = Limits.jsonValues
    package var connectionsPerProcess = Limits.connectionsPerProcess
    package var connectionsPerUser = Limits.connectionsPerUser
    package var requestsPerConnection = Limits.requestsPerConnection
    package var batchAnswerBytes = Limits.batchAnswerBytes

    package var streamsPerConnection = Limits.streamsPerConnection

    /// What the descriptors of this process allow; see ``connections(forDescriptors:)``.
    package var connectionsInAll = Int.max

    /// A longer line, or one of more values, is parsed off the loop: 64 KiB of plain text take 20 µs, and 256 values 0.1 ms.
    package var lineBytesOnLoop = 64 << 10
    package var lineValuesOnLoop = 256

    /// Of the lines that the loop parses for one connection before others have their turn.
    package var lineBytesPerTurn = 8 << 10

    /// Of answers that the client has not taken yet: above it no further request of it is read.
    package var pauseAbove = 256 << 10

    /// Above it the connection ends: a subscriber that does not read must not make us keep the world's events.
    package var closeAbove = 4 << 20

    /// Of answers that clients have not taken, and of batches that are not answered yet. If they are more, connections of the
    /// process that holds most for longest end.
    package var unsent = BufferedBytes.Limits(perUser: 24 << 20, inAll: 32 << 20)

    /// Of lines that are not complete, or wait to be parsed; the same.
    package var lines = BufferedBytes.Limits(perUser: 24 << 20, inAll: 32 << 20)

    /// Of the lines that were parsed off the loop and whose requests are in progress: a request keeps its values, up to seven
    /// times the line, until it ends. One more is refused with `busy`. What one process may have leaves room for others.
    package var longRequestsPerProcess = 16 << 20
    package var longRequestsInAll = 64 << 20

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

    /// How many connections there may be if the process may have so many descriptors. The rest is its own: for providers, the
    /// store and files (max(64, 1 %)), and for connections that are refused. Of very few, clients may have a quarter.
    package func connections(forDescriptors descriptors: Int) -> Int {
        max(descriptors / 4, descriptors - max(Self.minReserve, descriptors / 100) - lingering - AcceptSource.maxAtOnce)
    }

    private static let minReserve = 64
}
