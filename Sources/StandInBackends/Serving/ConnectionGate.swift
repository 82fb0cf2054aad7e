import NIOCore
import Synchronization

/// The connections that came in by one listening socket, and that socket: closed here, they end at once, whatever their
/// clients do.
///
/// Invariant: once it is closed, nothing that is kept here stays open.
final class ConnectionGate: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private struct State {
        var isClosed = false
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state = Mutex(State())

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        register(unwrapInboundIn(data))
        context.fireChannelRead(data)
    }

    func register(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isLate = state.withLock { state in
            if !state.isClosed { state.channels[id] = channel }
            return state.isClosed
        }
        if isLate { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.channels[id] = nil } }
    }

    func close() {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
