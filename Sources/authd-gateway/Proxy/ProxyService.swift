import AuthFront
import AuthGateway
import AuthHTTP
import AuthModel
import AuthWire
import NIOCore

/// Passes requests on to one server, with the token of a session.
struct ProxyService: FrontService {
    let transport: AsyncHTTPTransport
    let tokens: ProxyTokens
    let responseTime: Duration

    func begin(_ request: FrontRequest, on connection: FrontConnection) -> any FrontExchange {
        if request.head.opensWebSocket { return UpgradeExchange(self, request, connection).started() }
        return ProxyExchange(self, request, connection).started()
    }

    /// Asks for a token on behalf of an exchange.
    /// - Parameter refused: the token of the attempt before, if the server refused it.
    func token(
        for request: FrontRequest, insteadOf refused: ProxyToken?, on loop: any EventLoop
    ) -> EventLoopFuture<(token: ProxyToken, target: ProxyTarget)> {
        loop.makeFutureWithTask { [tokens] in
            if let refused { await tokens.reject(refused) }
            return try await tokens.token(method: request.head.method, target: request.target)
        }
    }

    /// What the client gets instead of a response of the server.
    static func problem(_ error: any Error) -> FrontProblem {
        switch error {
        case let error as FrontProblem: error
        case let error as TransportError: FrontProblem(error)
        default: FrontProblem(502, .internal_, "The request failed.")
        }
    }
}
