package struct HTTPRequest: Sendable {
    package var method: String
    /// Absolute, `http` or `https`.
    package var url: String
    package var headers: [HTTPField]
    package var body: Secret?
    /// In place of `body`.
    package var source: (any HTTPBodySource)?
    /// Takes a long answer of 2xx; the reply is without its body then.
    package var sink: (any HTTPResponseSink)?
    /// Only ever to the same origin.
    package var followsRedirects = true
    /// What it has to prove, anew each time it is sent.
    package var proof: ProofRequest?
    /// For the whole exchange; `nil` is the transport's own, and none at all where a body is streamed.
    package var limit: Duration?
    /// In bytes, after decompression; the transport's own limit holds as well. A longer answer is ``TransportError/tooLarge(limit:)``.
    package var largestReply = HTTPRequest.largestDocument

    /// Of an answer that is made into values: metadata, keys, tokens, users. The largest in use have some kilobytes.
    package static let largestDocument = 1 << 20
    /// Of an answer to a call, which is passed on as text.
    package static let largestAnswer = 8 << 20

    package init(method: String, url: String, headers: [HTTPField] = [], body: Secret? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A header field; the value is a secret because `Authorization` is one.
package struct HTTPField: Sendable {
    package let name: String
    package let value: Secret

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = Secret(value)
    }
}

package struct HTTPResponse: Sendable {
    package let status: Int
    /// In the order received; a name may come twice.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// How far the clock of who answered is ahead of ours, as far as that is known.
    package var skew = Duration.zero

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field of that name, in any case (RFC 9110 §5.1).
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why there was no whole answer. Texts name the host, never a path or a query.
package enum TransportError: Error, Sendable, Equatable {
    /// No route: the machine is offline as far as the request, or the system, could tell.
    case offline(reason: String)
    case nameNotResolved(host: String)
    case connectionRefused(host: String)
    case timedOut(host: String, after: Duration)
    /// Whoever answered has no good certificate for that host.
    case certificate(host: String, reason: String)
    /// The handshake.
    case tls(host: String, reason: String)
    /// The connection ended in mid-answer, or before one.
    case connectionLost(host: String, reason: String)
    /// The answer was larger than the limit in bytes.
    case tooLarge(limit: Int)
    /// A redirect to another origin, which is not followed with credentials.
    case redirected(toOrigin: String)
    case proxy(reason: String)
    case badURL(reason: String)
    /// The network wants a sign-in of its own first; nothing was sent.
    case portal
    case cancelled
}
