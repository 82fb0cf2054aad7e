/// One HTTP exchange. Redirects are the transport's: never with credentials to another origin.
package protocol HTTPTransport: Sendable {
    /// - Throws: ``TransportError`` when there was no whole answer. Any status is an answer.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse

    /// Closes every idle connection so that the next request begins on a new one (network change, resume).
    func closeIdleConnections() async

    /// The same for connections to these origins alone: one of them may be dead, or keeps an answer with a secret in it.
    func closeIdleConnections(to origins: Set<ProviderOrigin>) async

    /// The same, and requests under way end too: no address is left that their answers could come to.
    func closeAllConnections() async
}

extension HTTPTransport {
    package func closeAllConnections() async {
        await closeIdleConnections()
    }

    /// Of a transport that does not tell its connections apart.
    package func closeIdleConnections(to origins: Set<ProviderOrigin>) async {
        await closeIdleConnections()
    }
}
