import NIOCore
import NIOSSL

/// Closes a connection of HTTP/2 at its first error. The library reports the error, but keeps the connection and goes
/// on to buffer what arrives: a server could fill the memory.
///
/// It does not wait for the other side's TLS close_notify: until that arrived, more would be buffered.
final class ConnectionErrorHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    static let add: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
        channel.eventLoop.submit { try channel.pipeline.syncOperations.addHandler(ConnectionErrorHandler()) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
        context.fireErrorCaught(error)
        (tls ?? context).close(promise: nil)
    }
}
