/// Limits for servers.
package struct TransportLimits: Sendable, Equatable {
    /// For name resolution, TCP, proxy and TLS together. Longer than that, there is no network.
    package var connect: Duration = .seconds(10)
    /// Silence during a response: before its head and between two parts.
    package var silence: Duration = .seconds(30)
    /// For the whole exchange with its redirects, so that a slow server cannot hold a request forever.
    package var total: Duration = .seconds(60)
    /// Bytes of a body after decompression. Bodies are JSON documents and small files.
    package var bodyBytes = 8 << 20
    /// Redirects in one exchange. A sign-in server needs one or two.
    package var redirects = 5
    /// Connections to one HTTP/1.1 origin, so that slow calls of programs do not delay a renewal.
    package var connectionsPerOrigin = 32
    /// How long an unused connection stays open. Many servers close theirs after 60 s, some after 5 s.
    package var idleConnection: Duration = .seconds(20)
    /// How long a closing connection waits for the other side's TLS close_notify, which never arrives over a dead network.
    package var closeNotify: Duration = .seconds(1)

    package init() {}
}
