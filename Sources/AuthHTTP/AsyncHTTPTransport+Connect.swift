import AsyncHTTPClient
package import AuthModel
package import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization

extension AsyncHTTPTransport {
    /// Opens a separate connection to an origin for an exchange of HTTP/1.1 or what begins as one (RFC 9110 §7.8), including the
    /// TLS handshake, through the proxy if there is one. Nothing is read before the first `read()`. The future fails with a
    /// ``TransportError``.
    package func connect(to origin: Origin, on loop: any EventLoop) -> EventLoopFuture<any Channel> {
        let route: ProxyRules.Route
        do throws(TransportError) {
            route = try proxies.route(to: origin)
        } catch {
            return loop.makeFailedFuture(error)
        }
        let deadline = NIODeadline.now() + TimeAmount(limits.connect)
        let context: EventLoopFuture<NIOSSLContext?> =
            origin.isSecure
            ? loop.makeFutureWithTask { try self.madeTLSContext() } : loop.makeSucceededFuture(nil)
        return context.flatMap { self.open(origin, route, $0, until: deadline, on: loop) }
            .flatMapErrorThrowing { throw self.meaning(of: $0, at: origin) }
    }

    /// What an error of a connection from ``connect(to:on:)`` means.
    package func meaning(of error: any Error, at origin: Origin) -> TransportError {
        let route = (try? proxies.route(to: origin)) ?? .direct
        return Attempt(origin: origin, route: route, limits: limits).meaning(of: error)
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
        _ origin: Origin, _ route: ProxyRules.Route, _ context: NIOSSLContext?, until deadline: NIODeadline,
        on loop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        let (host, port) =
            switch route {
            case .direct: (origin.host, origin.port)
            case .proxy(let proxy): (proxy.host, proxy.port)
            }
        return ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(limits.connect))
            .channelOption(.autoRead, value: false)
            .connect(host: host, port: port)
            .flatMap { [limits] channel in Self.keepAlive(channel, limits.keepAlive).map { channel } }
            .flatMap { channel in
                guard case .proxy(let proxy) = route else { return loop.makeSucceededFuture(channel) }
                return Tunnel.through(proxy, to: origin, on: channel, until: deadline).map { channel }
            }
            .flatMap { channel in
                guard let context else { return loop.makeSucceededFuture(channel) }
                return Self.secured(channel, to: origin, context, until: deadline)
            }
    }

    private static func secured(
        _ channel: any Channel, to origin: Origin, _ context: NIOSSLContext, until deadline: NIODeadline
    ) -> EventLoopFuture<any Channel> {
        let end = channel.eventLoop.makePromise(of: Void.self)
        do {
            let name = IPAddress(origin.host) == nil ? origin.host : nil
            let tls = try NIOSSLClientHandler(context: context, serverHostname: name)
            try channel.pipeline.syncOperations.addHandlers(tls, HandshakeHandler(end))
        } catch {
            end.fail(error)
        }
        let limit = channel.eventLoop.scheduleTask(deadline: deadline) {
            end.fail(HTTPClientError.tlsHandshakeTimeout)
            channel.close(promise: nil)
        }
        channel.read()
        return end.futureResult.always { _ in limit.cancel() }.flatMap { PeerName.check(channel, of: origin) }
            .map { channel }
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
