import NIOCore

/// A connection as a stream of bytes each way, with nothing to be finished by hand when a test ends in between.
struct ByteChannel: Sendable {
    let channel: any Channel
    /// Ends when the other side, or the test, closes the connection.
    let inbound: AsyncStream<ByteBuffer>

    /// On the channel's event loop, as the last part of its pipeline.
    init(feeding channel: any Channel) throws {
        let (inbound, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
        try channel.pipeline.syncOperations.addHandler(Feeder(feed: feed))
        self.channel = channel
        self.inbound = inbound
    }

    /// Returns when the bytes are the kernel's.
    func write(_ bytes: ByteBuffer) async throws {
        try await channel.writeAndFlush(bytes)
    }

    /// The connection ends with `body`, or at once when the task is cancelled.
    func whileOpen(_ body: () async throws -> Void) async throws {
        defer { channel.close(promise: nil) }
        try await withTaskCancellationHandler {
            try await body()
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    private final class Feeder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let feed: AsyncStream<ByteBuffer>.Continuation

        init(feed: AsyncStream<ByteBuffer>.Continuation) {
            self.feed = feed
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            feed.yield(unwrapInboundIn(data))
        }

        func channelInactive(context: ChannelHandlerContext) {
            feed.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            feed.finish()
        }
    }
}
