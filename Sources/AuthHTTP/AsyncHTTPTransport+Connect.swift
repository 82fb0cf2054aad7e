import AsyncHTTPClient
package import AuthModel
package import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization

extension AsyncHTTPTransport {
    /// A connection to an origin for a protocol that begins as HTTP/1.1, such as WebSocket (RFC 9110 §7.8), after the
    /// TLS handshake. What the server sends is not read before the first `read()`.
    ///
    /// Proxies are not supported. The future fails with a ``TransportError``.
    package func connect(to origin: Origin, on loop: any EventLoop) -> EventLoopFuture<any Channel> {
        let route: ProxyRules.Route
        do throws(TransportError) {
            route = try proxies.route(to: origin)
        } catch {
            return loop.makeFailedFuture(error)
        }
        guard case .direct = route else {
            return loop.makeFailedFuture(
                TransportError.proxy(
                    reason: "connections of other protocols than HTTP through a proxy are not supported"))
        }
        let deadline = NIODeadline.now() + TimeAmount(limits.connect)
        let context: EventLoopFuture<NIOSSLContext?> =
            origin.isSecure
            ? loop.makeFutureWithTask { try self.madeTLSContext() } : loop.makeSucceededFuture(nil)
        return context.flatMap { self.open(origin, $0, until: deadline, on: loop) }
            .flatMapErrorThrowing { throw self.meaning(of: $0, at: origin) }
    }

    /// What an error of a connection from ``connect(to:on:)`` means.
    package func meaning(of error: any Error, at origin: Origin) -> TransportError {
        Attempt(origin: origin, route: .direct, limits: limits).meaning(of: error)
    }

    /// Reads the system's store of certificates the first time, so it must not be called on an event loop.
    private func madeTLSContext() throws -> NIOSSLContext {
        try tlsContext.withLock { context in
            if let context { return context }
            var tls = roots.tlsConfiguration(closeNotify: TimeAmount(limits.closeNotify))
            tls.applicationProtocols = ["http/1.1"]
            let made = try NIOSSLContext(configuration: tls)
            context = made
            return made
        }
    }

    private func open(
        _ origin: Origin, _ context: NIOSSLContext?, until deadline: NIODeadline, on loop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        let name = IPAddress(origin.host) == nil ? origin.host : nil
        return ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(limits.connect))
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let context else { return }
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: name))
                }
            }
            .connect(host: origin.host, port: origin.port)
            .flatMap { channel in Self.keepAlive(channel).map { channel } }
            .flatMap { channel in
                context == nil ? loop.makeSucceededFuture(channel) : Self.secured(channel, until: deadline)
            }
    }

    /// Nothing has been read yet, so the handshake is still in progress.
    private static func secured(_ channel: any Channel, until deadline: NIODeadline) -> EventLoopFuture<any Channel> {
        let end = channel.eventLoop.makePromise(of: Void.self)
        do {
            try channel.pipeline.syncOperations.addHandler(HandshakeHandler(end))
        } catch {
            end.fail(error)
        }
        let limit = channel.eventLoop.scheduleTask(deadline: deadline) {
            end.fail(HTTPClientError.tlsHandshakeTimeout)
            channel.close(promise: nil)
        }
        channel.read()
        return end.futureResult.always { _ in limit.cancel() }.map { channel }
    }
}

/// Waits for the end of a TLS handshake.
private final class HandshakeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let end: EventLoopPromise<Void>

    init(_ end: EventLoopPromise<Void>) {
        self.end = end
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent { end.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end.fail(error)
        context.fireErrorCaught(error)
    }

    func handlerRemoved(context: ChannelHandlerContext) { end.fail(ChannelError.eof) }
}
