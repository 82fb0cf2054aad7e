package struct HTTPRequest: Sendable {
    package var method: String
    /// Absolute, `http` or `https`.
    package var url: String
    package var headers: [HTTPField]
    package var body: Secret?
    /// Replaces `body`.
    package var source: (any HTTPBodySource)?
    /// Receives a long response of 2xx; the returned response has no body then.
    package var sink: (any HTTPResponseSink)?
    /// Only to the same origin.
    package var followsRedirects = true
    /// Whether a redirect is a response like any other, wherever it leads. It is then neither followed nor an error.
    package var acceptsRedirects = false
    /// Which of a session's secrets it contains, if it was built from a profile.
    package var carries: TokenOrigins.Uses = []
    /// Proved each time the request is sent.
    package var proof: ProofRequest?
    /// For the whole exchange; `nil`: the transport's own, or none if a body is streamed.
    package var limit: Duration?
    /// Bytes after decompression; the transport's limit applies too. A longer response is ``TransportError/tooLarge(limit:)``.
    package var largestReply = HTTPRequest.largestDocument
    /// Whether its connection is closed after the response (RFC 9112 §9.6), because no other request follows soon.
    package private(set) var closesConnection = false

    /// For responses that are parsed: metadata, keys, tokens, users. The largest in use have some kilobytes.
    package static let largestDocument = 1 << 20
    /// For responses to calls, which are passed on as text.
    package static let largestAnswer = 8 << 20

    package init(method: String, url: String, headers: [HTTPField] = [], body: Secret? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The same request, as the last one on its connection if `isLast`. A server may want a request with a proof again at
    /// once, with another proof (RFC 9449 §8): its connection stays open.
    package func closingConnection(if isLast: Bool = true) -> HTTPRequest {
        var request = self
        request.closesConnection = isLast && proof == nil
        return request
    }
}

/// The value is a secret because `Authorization` is one.
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
    /// In the order received; a name may occur twice.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// How far the sender's clock is ahead of ours, as far as it is known.
    package var skew = Duration.zero

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field with that name, in any case (RFC 9110 §5.1).
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why an exchange failed. Messages contain the host, never a path or a query.
package enum TransportError: Error, Sendable, Equatable {
    /// No route: the machine is offline, as far as the request or the system could tell.
    case offline(reason: String)
    case nameNotResolved(host: String)
    case connectionRefused(host: String)
    case timedOut(host: String, after: Duration)
    /// The server has no valid certificate for that host.
    case certificate(host: String, reason: String)
    /// The TLS handshake failed.
    case tls(host: String, reason: String)
    /// The connection ended before or during the response.
    case connectionLost(host: String, reason: String)
    case tooLarge(limit: Int)
    /// A redirect to another origin is not followed with credentials.
    case redirected(toOrigin: String)
    case proxy(reason: String)
    case badURL(reason: String)
    /// The network requires a sign-in first; nothing was sent.
    case portal
    case cancelled

    /// Whether the server has certainly received nothing of the request. If not, it may have carried it out.
    package var showsNothingWasSent: Bool {
        switch self {
        case .nameNotResolved, .connectionRefused, .certificate, .portal: true
        // Some of these can also end a connection that was in use.
        case .offline, .timedOut, .tls, .connectionLost, .tooLarge, .redirected, .proxy, .badURL, .cancelled: false
        }
    }
}
