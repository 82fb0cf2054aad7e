import AuthFiles
import NIOCore

/// Bytes that a client does not accept yet, in pieces: each is freed when it is sent, and nothing that waits is copied
/// when more is added.
struct UnsentBytes {
    /// Small additions are joined up to this size.
    private static let joined = 64 << 10

    private var pieces: [ByteBuffer] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return }
        count += bytes.readableBytes
        if let last = pieces.indices.last, pieces[last].readableBytes + bytes.readableBytes <= Self.joined {
            pieces[last].writeImmutableBuffer(bytes)
        } else {
            pieces.append(bytes)
        }
    }

    /// Sends from the start until the system accepts no more.
    /// - Parameter sendNow: returns how many bytes the system accepted.
    /// - Returns: how many bytes were accepted.
    /// - Throws: what `sendNow` throws. What was accepted before is removed.
    mutating func send(_ sendNow: (ByteBuffer) throws(SystemFailure) -> Int) throws(SystemFailure) -> Int {
        var (sent, whole) = (0, 0)
        defer {
            pieces.removeFirst(whole)
            count -= sent
        }
        while whole < pieces.count {
            let accepted = try sendNow(pieces[whole])
            sent += accepted
            guard accepted == pieces[whole].readableBytes else {
                pieces[whole].moveReaderIndex(forwardBy: accepted)
                // Otherwise joined bytes would let it grow.
                pieces[whole].discardReadBytes()
                return sent
            }
            whole += 1
        }
        return sent
    }
}
