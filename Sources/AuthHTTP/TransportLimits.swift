/// Limits for servers.
package struct TransportLimits: Sendable, Equatable {
    /// When a connection fails whose peer has disappeared (a laptop that slept, a NAT that forgot it): after some silence and
    /// unanswered probes (tcp(7)).
    package struct KeepAlive: Sendable, Equatable {
        /// In seconds, as `interval`.
        package var silence: Int
        package var interval: Int
        package var probes: Int

        package init(silence: Int, interval: Int, probes: Int) {
            self.silence = silence
            self.interval = interval
            self.probes = probes
        }
    }

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
    /// For connections on which silence is normal. Two minutes; one probe a minute uses little power.
    package var keepAlive = KeepAlive(silence: 60, interval: 15, probes: 4)

    package init() {}
}
