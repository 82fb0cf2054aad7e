import Glibc
import NIOCore

/// Passes responses on to the socket.
extension Connection {
    /// The buffer that an idle connection keeps for its next response.
    private static let keptBuffer = 4 << 10

    /// The socket buffers what the client does not accept yet.
    func handOver() {
        guard socket.isOpen, outgoing.readableBytes > 0 else { return }
        guard socket.waiting <= registry.limits.closeAbove else { return endUnread() }
        socket.send(outgoing)
        // Everything was sent at once: the buffer is reused.
        guard outgoing.capacity <= Self.keptBuffer else {
            outgoing = ByteBuffer()
            return
        }
        let count = outgoing.readableBytes
        outgoing.clear()
        // It may hold a token; a larger one is overwritten when it is freed.
        unsafe outgoing.withUnsafeMutableWritableBytes { room in
            if let start = room.baseAddress { unsafe explicit_bzero(start, min(count, room.count)) }
        }
    }
}
