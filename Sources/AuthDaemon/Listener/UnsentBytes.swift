import AuthFiles
import NIOCore

/// Bytes that a client has not accepted yet, in pieces: each is freed when it is sent, and large ones are not copied
/// when more is added.
///
/// Invariant: a piece has at most twice the memory that its bytes need, or 1 KiB.
struct UnsentBytes {
    /// Small additions are joined up to this size.
    private static let joined = 64 << 10
    /// After this many bytes other clients have their turn: a client that reads fast could get everything at once.
    static let mostAtOnce = 256 << 10

    private var pieces: [ByteBuffer] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The memory of the pieces, with spare room.
    var storedBytes: Int { pieces.reduce(0) { $0 + $1.storageCapacity } }

    mutating func append(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return }
        count += bytes.readableBytes
        if let last = pieces.indices.last, pieces[last].readableBytes + bytes.readableBytes <= Self.joined {
            // Otherwise it would grow, although sent bytes have left room.
            if pieces[last].writableBytes < bytes.readableBytes { pieces[last].discardReadBytes() }
            pieces[last].writeImmutableBuffer(bytes)
        } else {
            pieces.append(Self.withoutSpareRoom(bytes))
        }
    }

    /// The bytes in a buffer of about their size. They are copied only if more than half of the buffer is unused, so
    /// each byte is copied about once, even if little is sent at a time.
    private static func withoutSpareRoom(_ bytes: ByteBuffer) -> ByteBuffer {
        guard bytes.storageCapacity > max(2 * bytes.readableBytes, 1 << 10) else { return bytes }
        var copy = ByteBuffer()
        copy.writeImmutableBuffer(bytes)
        return copy
    }

    /// Sends from the start until the system accepts no more, or ``mostAtOnce`` are sent.
    /// - Parameter sendNow: returns how many bytes the system accepted.
    /// - Returns: how many bytes were accepted.
    /// - Throws: what `sendNow` throws. What was accepted before is removed.
    mutating func send(_ sendNow: (ByteBuffer) throws(SystemFailure) -> Int) throws(SystemFailure) -> Int {
        var (sent, whole) = (0, 0)
        defer {
            pieces.removeFirst(whole)
            count -= sent
        }
        while whole < pieces.count, sent < Self.mostAtOnce {
            let accepted = try sendNow(pieces[whole])
            sent += accepted
            guard accepted == pieces[whole].readableBytes else {
                pieces[whole].moveReaderIndex(forwardBy: accepted)
                pieces[whole] = Self.withoutSpareRoom(pieces[whole])
                return sent
            }
            whole += 1
        }
        return sent
    }
}
