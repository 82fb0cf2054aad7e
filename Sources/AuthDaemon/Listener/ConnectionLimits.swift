import AuthMachines
import AuthWire

/// Limits of what clients may use. Those of the contract are in ``Limits``; tests may use smaller ones.
package struct ConnectionLimits: Sendable {
    package var lineBytes = Limits.lineBytes
    package var lineTime = Limits.lineTime
    package var lineValues = Limits.jsonValues
    package var connectionsPerProcess = Limits.connectionsPerProcess
    package var connectionsPerUser = Limits.connectionsPerUser
    /// The first connections of a user are not counted by unit. When there are more, a unit may have at most half of
    /// ``connectionsPerUser``, and of all: the rest is for others.
    package var connectionsBeforeUnits = 1000
    /// The most connections of clients of the extra socket and in sandboxes: they must not use up those of the user.
    package var confinedConnections = 1024
    /// Each needs a descriptor.
    package var watchedProcesses = 128
    package var requestsPerConnection = Limits.requestsPerConnection
    /// Requests that wait, on all connections and the session bus. One needs some KiB, and may wait for a day: without these
    /// limits a user's processes could fill the memory that the unit allows.
    package var requestsPerProcess = 4096
    package var requestsPerUser = 32_768
    /// The same for all confined clients together. One process of them may have a quarter.
    package var confinedRequests = 4096
    package var batchAnswerBytes = Limits.batchAnswerBytes

    package var streamsPerConnection = Limits.streamsPerConnection

    /// Sockets that clients write bodies to, and how many of them all confined clients together may have. Each needs a
    /// descriptor. Without a socket, a body is sent in pieces.
    package var bodySockets = 64
    package var confinedBodySockets = 16
    /// The kernel's room for each (``InputSocket``).
    package var bodySocketBytes = Limits.bodySocketBytes
    package var confinedBodySocketBytes = 64 << 10

    /// Depends on the descriptors of this process; see ``connections(forDescriptors:)``.
    package var connectionsInAll = Int.max

    /// A longer line, or one with more values, is parsed off the loop: 64 KiB of plain text take 20 µs, 256 values 0.1 ms.
    package var lineBytesOnLoop = LineFramer.mostInPart
    package var lineValuesOnLoop = 256

    /// Bytes of lines that are processed for one connection before others have their turn, and how long that may take. If one
    /// connection sends requests without end, others wait for about twice that time; if several do, for that of each.
    /// Usual requests take 1 to 12 µs.
    package var lineBytesPerTurn = 8 << 10
    package var turnTime = Duration.microseconds(10)

    /// A client whose incomplete line has more bytes is read from in later turns, too.
    package var lineBytesAtOnce = 8 << 10

    /// Bytes of responses that the client has not received: above it, no more requests are read.
    package var pauseAbove = 256 << 10

    /// Above it the connection is closed: a subscriber that does not read must not fill the memory.
    package var closeAbove = 4 << 20

    /// Bytes of responses that clients have not received, and of unfinished batches. Above it, connections of the process that
    /// holds most for longest are closed.
    package var unsent = BufferedBytes.Limits(perUser: 24 << 20, inAll: 32 << 20)

    /// Bytes of lines that are incomplete, or wait to be parsed; the same.
    package var lines = BufferedBytes.Limits(perUser: 24 << 20, inAll: 32 << 20)

    /// A request in a shorter line counts without its bytes, unless the line was parsed off the loop.
    package var longRequest = 4 << 10

    /// Bytes of long requests that are in progress: a request keeps its values, up to seven times the line, until it ends. A
    /// further request is refused with `busy`. The limits for a process and a user leave room for others.
    package var longRequestsPerProcess = 16 << 20
    package var longRequestsPerUser = 48 << 20
    package var longRequestsInAll = 64 << 20

    /// The same for all confined clients together; and their responses that are not received, and lines that are incomplete or
    /// wait to be parsed, each.
    package var confinedLongRequests = 8 << 20
    package var confinedBytes = BufferedBytes.Limits(perUser: 8 << 20, inAll: 8 << 20)

    /// How long a refused client may go on writing: closing the connection with unread bytes would discard the error (unix(7),
    /// ECONNRESET).
    package var linger = Duration.seconds(1)

    /// Connections that may linger at once; further ones close at once.
    package var lingering = 64

    /// Subscriptions by session name of one connection.
    package var subscriptions = 64

    /// For requests in progress when the agent stops.
    package var stopGrace = Duration.seconds(5)

    /// For a request without `timeout_ms`.
    package var answer = NetworkWait.usualLimit

    /// The longest `timeout_ms`.
    package var longestAnswer = NetworkWait.longestLimit
    /// The same for a confined client.
    package var longestConfinedAnswer = Duration.seconds(600)

    package init() {}

    /// How many more connections of one unit may be opened after ``connectionsBeforeUnits``. All uncounted ones may
    /// belong to it.
    var countedConnectionsPerUnit: Int {
        max(1, min(connectionsPerUser, connectionsInAll) / 2 - connectionsBeforeUnits)
    }

    var requestsPerConfinedProcess: Int { max(1, confinedRequests / 4) }
    var longRequestsPerConfinedProcess: Int { max(1, confinedLongRequests / 4) }

    /// How long a request may take.
    /// - Parameter asked: its `timeout_ms`.
    func answerLimit(_ asked: Duration?, isConfined: Bool) -> Duration {
        let longest = isConfined ? longestConfinedAnswer : longestAnswer
        return asked.map { min($0, longest) } ?? answer
    }

    /// With as many connections as the descriptors of this process allow.
    package static var ofThisProcess: ConnectionLimits { ConnectionLimits.forDescriptors(ProcessGuard.descriptors) }

    static func forDescriptors(_ descriptors: Int) -> ConnectionLimits {
        var limits = ConnectionLimits()
        limits.bodySockets = min(limits.bodySockets, descriptors / 32)
        limits.confinedBodySockets = min(limits.confinedBodySockets, limits.bodySockets / 4)
        limits.connectionsInAll = limits.connections(forDescriptors: descriptors)
        // Otherwise one unit could have all of few connections.
        limits.connectionsBeforeUnits = min(limits.connectionsBeforeUnits, limits.connectionsInAll / 4)
        limits.confinedConnections = min(limits.confinedConnections, limits.connectionsInAll / 4)
        limits.watchedProcesses = min(limits.watchedProcesses, descriptors / 128)
        return limits
    }

    /// The number of connections for that many descriptors. The others are for providers, store and files (max(64, 1 %)), for
    /// bodies, and for connections that are refused. If there are very few, clients may have a quarter.
    package func connections(forDescriptors descriptors: Int) -> Int {
        max(
            descriptors / 4,
            descriptors - max(Self.minReserve, descriptors / 100) - bodySockets - lingering - AcceptSource.maxAtOnce)
    }

    private static let minReserve = 64
}
