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

    /// Appends a line.
    /// - Parameter line: without its line feed.
    func write(_ line: [UInt8]) {
        guard socket.isOpen else { return }
        guard line.count < Self.writeChunk else { return write(Self.pieces(of: line)) }
        write { output in
            output.writeBytes(line)
            output.writeInteger(UInt8(ascii: "\n"))
        }
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

    /// The line with its line feed, in pieces that are freed one by one as they are sent.
    static func pieces(of line: [UInt8]) -> [ByteBuffer] {
        var pieces = stride(from: 0, to: line.count, by: writeChunk).map { start in
            ByteBuffer(bytes: line[start..<min(start + writeChunk, line.count)])
        }
        // A full piece would get twice its memory for one more byte.
        if line.count.isMultiple(of: writeChunk) { pieces.append(ByteBuffer()) }
        pieces[pieces.count - 1].writeInteger(UInt8(ascii: "\n"))
        return pieces
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
