internal import Glibc
package import NIOCore

/// Splits a stream into lines (LF), and buffers an incomplete line.
///
/// Invariant: `buffer` begins with a line, and its first `searched` bytes contain no line feed.
package struct LineFramer {
    package enum Piece: Equatable {
        /// Without its line feed.
        case line(ByteBuffer)
        /// More than the limit without a line feed. What follows need not begin a line.
        case tooLong
    }

    private let limit: Int
    private var buffer = ByteBuffer()
    /// `buffer` is a buffer that its owner will overwrite.
    private var isBorrowed = false
    private var searched = 0

    /// - Parameter limit: bytes without the line feed.
    package init(limit: Int) {
        self.limit = limit
    }

    /// - Parameter bytes: valid until ``copyRest()``.
    package mutating func append(_ bytes: ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = bytes
            isBorrowed = true
        } else {
            buffer.discardReadBytes()
            buffer.writeImmutableBuffer(bytes)
        }
    }

    /// Copies the part that was not processed.
    package mutating func copyRest() {
        guard isBorrowed else { return }
        isBorrowed = false
        buffer = buffer.readableBytes > 0 ? ByteBuffer(bytes: buffer.readableBytesView) : ByteBuffer()
    }

    /// `nil` until more bytes arrive.
    package mutating func next() -> Piece? {
        guard let length = lengthOfLine() else {
            searched = buffer.readableBytes
            if searched > limit { return .tooLong }
            if searched == 0 { buffer = ByteBuffer() }
            return nil
        }
        searched = 0
        guard length <= limit, let line = buffer.readSlice(length: length) else { return .tooLong }
        buffer.moveReaderIndex(forwardBy: 1)
        return .line(line)
    }

    private func lengthOfLine() -> Int? {
        unsafe buffer.withUnsafeReadableBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[searched...])
            guard let start = rest.baseAddress,
                let end = unsafe memchr(start, CInt(UInt8(ascii: "\n")), rest.count)
            else { return nil }
            return unsafe searched + (UnsafeRawPointer(end) - start)
        }
    }

    /// Bytes after the last complete line.
    package var rest: Int { buffer.readableBytes }

    /// An incomplete line is buffered.
    package var isInMidLine: Bool { searched > 0 && searched == buffer.readableBytes }

    /// Bytes in memory that it has allocated.
    package var storedBytes: Int { isBorrowed || buffer.readableBytes == 0 ? 0 : buffer.storageCapacity }
}
