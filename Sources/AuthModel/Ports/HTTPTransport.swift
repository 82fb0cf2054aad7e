/// One HTTP exchange. The transport follows redirects, but never with credentials to another origin.
package protocol HTTPTransport: Sendable {
    /// - Throws: ``TransportError`` if there was no complete response. Any status is a response.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// Closes all idle connections, so that the next request opens a new one (network change, resume).
    func closeIdleConnections() async

    /// Closes idle connections to these origins: one of them may be dead, or its buffers may contain a secret.
    func closeIdleConnections(to origins: Set<Origin>) async

    /// Closes idle connections and ends requests in flight: no address is left that could receive their responses.
    func closeAllConnections() async
}

extension HTTPTransport {
    package func closeAllConnections() async {
        await closeIdleConnections()
    }

    /// For a transport that does not distinguish its connections.
    package func closeIdleConnections(to origins: Set<Origin>) async {
        await closeIdleConnections()
    }
}
