import Glibc
import NIOCore

/// Collects the responses of a turn, and passes them on to the socket.
///
/// Between turns a connection has no buffer: one is passed on from connection to connection.
extension Connection {
    /// The largest buffer that is passed on.
    private static let keptBuffer = 64 << 10

    /// Appends to the responses of this turn.
    func write(_ append: (inout ByteBuffer) -> Void) {
        if outgoing.capacity == 0 { swap(&outgoing, &registry.spareOutput) }
        append(&outgoing)
        if outgoing.readableBytes >= Self.writeChunk { handOver() }
    }

    /// Appends a line in pieces. Large ones are not copied.
    /// - Parameter pieces: with the line feed.
    func write(_ pieces: [ByteBuffer]) {
        guard socket.isOpen, let first = pieces.first else { return }
        guard pieces.count > 1 || first.readableBytes >= Self.writeChunk else {
            return write { $0.writeImmutableBuffer(first) }
        }
        handOver()
        guard mayHandOver() else { return }
        socket.send(pieces)
    }

    /// Whether the client reads enough; otherwise the connection is closed.
    private func mayHandOver() -> Bool {
        guard socket.isOpen else { return false }
        guard socket.waiting > registry.limits.closeAbove else { return true }
        endUnread()
        return false
    }

    /// The socket buffers what the client does not accept yet.
    func handOver() {
        guard outgoing.readableBytes > 0, mayHandOver() else { return }
        socket.send(outgoing)
        var sent = ByteBuffer()
        swap(&sent, &outgoing)
        // Otherwise the socket may still use the buffer.
        guard socket.waiting == 0, sent.capacity <= Self.keptBuffer else { return }
        let count = sent.readableBytes
        sent.clear()
        // It may hold a token; a larger one is overwritten when it is freed.
        unsafe sent.withUnsafeMutableWritableBytes { room in
            if let start = room.baseAddress { unsafe explicit_bzero(start, min(count, room.count)) }
        }
        registry.spareOutput = sent
    }
}
