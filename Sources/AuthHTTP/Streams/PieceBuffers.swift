import AuthModel
import NIOCore

/// A few buffers for the bytes of a body. They are used in turn.
///
/// Invariants: a buffer is used again only after the connection has sent its last piece; a piece that is kept has at most
/// four times its bytes, or a share of these buffers. A new buffer for each read would cost more than the copy: the kernel
/// has to map its pages, and authd overwrites what it frees.
struct PieceBuffers {
    /// One is sent while another is filled; the others cover delays of a thread.
    static let count = 4
    /// If the connection needed longer for the last read, the next one is short.
    static let longestForMore = Duration.milliseconds(500)

    private let group: any EventLoopGroup
    private let now: @Sendable () -> ContinuousClock.Instant
    private var buffers = [ByteBuffer](repeating: ByteBuffer(), count: Self.count)
    private var turn = 0
    private var size = HTTPStreamLimits.pieceBytes
    /// When something was last read.
    private var last: ContinuousClock.Instant?
    /// How many buffers were made.
    private(set) var allocations = 0

    /// - Parameter group: the client's event loops.
    init(group: any EventLoopGroup, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.group = group
        self.now = now
    }

    /// The next bytes; `nil` if there are none after all.
    mutating func read(_ input: any HTTPBodyInput) async -> ByteBuffer? {
        adaptSize()
        turn = (turn + 1) % Self.count
        if !isFree, buffers[turn].capacity > 0 { await passWrites() }
        if !isFree {
            // The connection still has its bytes: then the client library requests no others after these.
            buffers[turn] = ByteBuffer()
            buffers[turn].reserveCapacity(HTTPStreamLimits.longestRead)
            allocations += 1
        }
        buffers[turn].clear()
        let size = size
        let count = unsafe buffers[turn].writeWithUnsafeMutableBytes(minimumWritableBytes: size) { room in
            unsafe input.read(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(size)))
        }
        guard count > 0 else { return nil }
        last = now()
        // Otherwise a client that writes little at a time would keep many whole buffers in use.
        return count < size / 2 ? ByteBuffer(buffer: buffers[turn]) : buffers[turn]
    }

    private var isFree: Bool { mutating get { buffers[turn].modifyIfUniquelyOwned { _ in true } ?? false } }

    /// Returns when the connection has sent, or holds, what was passed to it before.
    private func passWrites() async {
        for loop in group.makeIterator() { try? await loop.submit {}.get() }
    }

    private mutating func adaptSize() {
        guard let last else { return }
        let isSlow = now() - last > Self.longestForMore
        size = isSlow ? HTTPStreamLimits.pieceBytes : min(2 * size, HTTPStreamLimits.longestRead)
    }
}
