import AuthHTTP
import AuthModel
import Synchronization

/// What a test drops between a host and etcd.
package final class Losses: Sendable {
    package enum Kind: Sendable {
        /// Calls do not arrive.
        case calls
        /// Calls are carried out, and their responses do not arrive.
        case responses
    }

    private let kind = Mutex<Kind?>(nil)

    package init() {}

    /// Runs `body` while calls or responses are lost.
    package func losing<Value>(_ kind: Kind, _ body: () async throws -> Value) async rethrows -> Value {
        self.kind.withLock { $0 = kind }
        defer { self.kind.withLock { $0 = nil } }
        return try await body()
    }

    fileprivate var current: Kind? { kind.withLock { $0 } }
}

/// The real transport, with losses. Watches are not affected.
struct LossyTransport: HTTPLiveTransport {
    let transport: AsyncHTTPTransport
    let losses: Losses

    private static let lost = TransportError.connectionLost(host: "etcd", reason: "lost by the test")

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        switch losses.current {
        case nil: return try await transport.send(request)
        case .calls: throw Self.lost
        case .responses:
            _ = try await transport.send(request)
            throw Self.lost
        }
    }

    func stream(
        _ request: HTTPRequest, limit: Duration, to receiver: any HTTPLiveReceiver
    ) async throws(TransportError) {
        try await transport.stream(request, limit: limit, to: receiver)
    }

    func closeIdleConnections() async { await transport.closeIdleConnections() }
}
