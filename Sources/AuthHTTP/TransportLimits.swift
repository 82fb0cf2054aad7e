/// What a server can make us wait for or hold, and how much of it we accept.
package struct TransportLimits: Sendable, Equatable {
    /// Name look-up, TCP, proxy and TLS together; a longer wait is a network that is not there.
    package var connect: Duration = .seconds(10)
    /// Silence while an answer is due: before its head and between two of its parts.
    package var silence: Duration = .seconds(30)
    /// The whole exchange, redirects included, so that a server dripping bytes holds nobody for ever.
    package var total: Duration = .seconds(60)
    /// Bytes of a body, counted after decompression; ours are JSON documents and small files.
    package var bodyBytes = 8 << 20
    /// Redirects followed in one exchange; a sign-in server needs one or two.
    package var redirects = 5
    /// Connections to one HTTP/1.1 origin at once: slow calls of programs must not hold up a renewal.
    package var connectionsPerOrigin = 32
    /// How long an unused connection is kept; many servers close theirs after 60 s, some after 5 s.
    package var idleConnection: Duration = .seconds(20)
    /// How long a closing connection waits for the other side's goodbye, which a dead network never brings.
    package var closeNotify: Duration = .seconds(1)

    package init() {}
}
