import NIOCore

/// Passes bytes between two connections as fast as the slower one accepts them. Both are on one event loop.
final class ByteRelay: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?
    private weak var other: ByteRelay?
    private var isWaiting = false
    private var hasBegun = false
    /// What was received before ``begin()``. The connection is not read meanwhile, so it is what one read has, at most.
    private var early: [ByteBuffer] = []

    /// Two ends that belong together.
    static func pair() -> (ByteRelay, ByteRelay) {
        let (one, two) = (ByteRelay(), ByteRelay())
        (one.other, two.other) = (two, one)
        return (one, two)
    }

    /// Both ends have their connections: what this one has received is passed on.
    func begin() {
        hasBegun = true
        for piece in early { other?.context?.channel.write(piece, promise: nil) }
        early = []
        other?.context?.channel.flush()
        guard let context, context.channel.isActive else { return closeOther() }
        context.read()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let piece = unwrapInboundIn(data)
        guard hasBegun else { return early.append(piece) }
        other?.context?.channel.write(piece, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard hasBegun else { return }
        guard let target = other?.context else { return context.close(promise: nil) }
        target.flush()
        if target.channel.isWritable { context.read() } else { isWaiting = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable, let other, other.isWaiting else { return }
        other.isWaiting = false
        other.context?.read()
    }

    func channelInactive(context: ChannelHandlerContext) { closeOther() }

    /// A WebSocket needs both directions.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
        closeOther()
    }

    /// After what it still has to send.
    private func closeOther() {
        guard let channel = other?.context?.channel else { return }
        channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
    }
}
