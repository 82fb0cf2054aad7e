/// Limits of the bridge, so that neither the program on its pipes nor the server can exhaust the machine.
package enum BridgeLimits {
    /// One message in either direction, and one event. Results with images in base64 have some megabytes.
    package static let messageBytes = 16 << 20

    /// JSON values in one message. Each takes up to a hundred bytes while the message is examined.
    static let messageValues = 500_000

    /// Requests without a response. Programs have a few; each holds a connection, and may wait for a token: the agent
    /// accepts 128 requests on one connection.
    package static let pendingRequests = 100

    /// Messages that are not sent yet, in bytes. Above this, standard input is not read.
    static let unsentBytes = 32 << 20

    /// The same, in messages: each event of the machine looks at all of them.
    package static let unsentMessages = 1000

    /// Messages on standard error.
    package static let notesPerMinute = 30

    /// Messages for standard error that are not written yet. More are dropped: a program that does not read them must not stop
    /// the bridge.
    package static let unwrittenNotes = 32

    /// Messages for standard output that are not written yet, in bytes. Above this, the server is not read.
    package static let unwrittenBytes = 1 << 20

    /// The body of a response that reports an error.
    static let errorBytes = 256 << 10

    /// `Mcp-Session-Id`, `Last-Event-ID` and `Mcp-Name` in a request. Servers limit all headers of a request to 8 to 64 KiB.
    static let headerBytes = 4 << 10

    /// All headers of a response.
    static let responseHeaderBytes = 64 << 10

    /// How long a response may take to begin. A tool can run for minutes, and many servers begin their response at its end.
    package static let responseTime = Duration.seconds(15 * 60)

    /// Between two requests for a stream if the server names no time (`retry`).
    static let reconnectPause = Duration.seconds(1)

    /// After a stream that brought no message, whatever the server asks for.
    static let shortestPause = Duration.milliseconds(500)

    /// The longest pause of a growing one.
    static let longestPause = Duration.seconds(30)

    /// A server that wants a longer pause (`retry`) does not want the client to return.
    static let longestRetry = Duration.seconds(10 * 60)

    /// Attempts in a row to resume a stream, without an event in between.
    static let resumeAttempts = 6

    /// Redirects of one request, all within the origin. Servers that add or remove a slash need one.
    static let redirects = 3

    /// After the end of standard input, for requests in flight. Programs end a server after two seconds.
    static let drainTime = Duration.seconds(1)

    /// For the request that ends the session, at the end.
    static let deleteTime = Duration.milliseconds(700)

    /// Sessions that a program may have lost in a row without a response in between.
    static let sessionReplays = 1
}
