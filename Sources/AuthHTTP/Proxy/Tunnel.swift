import AsyncHTTPClient
import AuthModel
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOSOCKS

/// Opens a tunnel through a proxy to the origin (RFC 9110 §9.3.6, RFC 1928).
enum Tunnel {
    /// Must be called on the channel's event loop. Fails with the errors that async-http-client uses for proxies.
    static func through(
        _ proxy: ProxyServer, to origin: Origin, on channel: any Channel, until deadline: NIODeadline
    ) -> EventLoopFuture<Void> {
        let established = channel.eventLoop.makePromise(of: Void.self)
        let handlers: [any RemovableChannelHandler]
        switch proxy.kind {
        case .http: handlers = connect(proxy, to: origin, until: deadline, established)
        case .socks5:
            handlers = [
                SOCKSClientHandler(targetAddress: .domain(origin.host, port: origin.port)),
                EstablishedHandler(established),
            ]
        }
        // The handlers have no limit that covers the whole handshake.
        let limit = channel.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            established.fail(HTTPClientError.httpProxyHandshakeTimeout)
            channel.close(promise: nil)
        }
        return channel.setOption(.autoRead, value: true).assumeIsolated()
            .flatMapThrowing { try channel.pipeline.syncOperations.addHandlers(handlers) }
            .map { channel.closeFuture.whenComplete { _ in established.fail(HTTPClientError.invalidProxyResponse) } }
            .nonisolated()
            .flatMapError { error in
                established.fail(error)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .flatMap { established.futureResult }
            .flatMapErrorThrowing { throw meaning(of: $0) }
            .always { _ in limit.cancel() }
            .flatMap { channel.setOption(.autoRead, value: false) }
            .assumeIsolated()
            .flatMap { remove(handlers, from: channel) }
            .nonisolated()
            .always { if case .failure = $0 { channel.close(promise: nil) } }
    }

    private static func remove(
        _ handlers: [any RemovableChannelHandler], from channel: any Channel
    ) -> EventLoopFuture<Void> {
        // It removes itself.
        let others = handlers.filter { !($0 is NIOHTTP1ProxyConnectHandler) }
        return .andAllSucceed(
            others.map { channel.pipeline.syncOperations.removeHandler($0) }, on: channel.eventLoop)
    }

    private static func connect(
        _ proxy: ProxyServer, to origin: Origin, until deadline: NIODeadline, _ established: EventLoopPromise<Void>
    ) -> [any RemovableChannelHandler] {
        var headers = HTTPHeaders()
        if let user = proxy.user {
            let authorization = HTTPClient.Authorization.basic(username: user, password: proxy.password ?? "")
            headers.add(name: "Proxy-Authorization", value: authorization.headerValue)
        }
        let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
        headers.add(name: "Host", value: "\(host):\(origin.port)")
        return [
            HTTPRequestEncoder(),
            ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes)),
            NIOHTTP1ProxyConnectHandler(
                targetHost: host, targetPort: origin.port, headers: headers, deadline: deadline, promise: established),
            // What is not HTTP.
            EstablishedHandler(established),
        ]
    }

    private static func meaning(of error: any Error) -> HTTPClientError {
        switch error {
        case let error as HTTPClientError: error
        case let error as NIOHTTP1ProxyConnectHandler.Error where error == .proxyAuthenticationRequired():
            .proxyAuthenticationRequired
        case let error as NIOHTTP1ProxyConnectHandler.Error where error == .httpProxyHandshakeTimeout():
            .httpProxyHandshakeTimeout
        default: .invalidProxyResponse
        }
    }
}

/// Waits for the end of the handshake of SOCKS, and for errors.
private final class EstablishedHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let established: EventLoopPromise<Void>

    init(_ established: EventLoopPromise<Void>) {
        self.established = established
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is SOCKSProxyEstablishedEvent { established.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        established.fail(error)
        context.fireErrorCaught(error)
    }
}
