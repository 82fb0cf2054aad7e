import NIOCore
import Synchronization

/// A listening socket and its connections, which ``close()`` ends at once.
///
/// Invariant: after ``close()``, no registered channel stays open.
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
