internal import Glibc
package import NIOCore

/// Splits a stream into lines (LF), and buffers an incomplete line.
///
/// Invariant: `kept` begins with a line, and its first `searched` bytes contain no line feed.
package struct LineFramer {
    package enum Piece: Equatable {
        /// Without its line feed.
        case line(ByteBuffer)
        /// More than the limit without a line feed. What follows need not begin a line.
        case tooLong
    }

    private let limit: Int
    private var kept = ByteBuffer()
    /// `kept` is a buffer that its owner will overwrite.
    private var isBorrowed = false
    private var searched = 0

    /// - Parameter limit: bytes without the line feed.
    package init(limit: Int) {
        self.limit = limit
    }

    /// - Parameter bytes: valid until ``keepRest()``.
    package mutating func append(_ bytes: ByteBuffer) {
        if kept.readableBytes == 0 {
            kept = bytes
            isBorrowed = true
        } else {
            kept.discardReadBytes()
            kept.writeImmutableBuffer(bytes)
        }
    }

    /// Copies the part that was not processed.
    package mutating func keepRest() {
        guard isBorrowed else { return }
        isBorrowed = false
        kept = kept.readableBytes > 0 ? ByteBuffer(bytes: kept.readableBytesView) : ByteBuffer()
    }

    /// `nil` until more bytes arrive.
    package mutating func next() -> Piece? {
        guard let length = lengthOfLine() else {
            searched = kept.readableBytes
            if searched > limit { return .tooLong }
            if searched == 0 { kept = ByteBuffer() }
            return nil
        }
        searched = 0
        guard length <= limit, let line = kept.readSlice(length: length) else { return .tooLong }
        kept.moveReaderIndex(forwardBy: 1)
        return .line(line)
    }

    private func lengthOfLine() -> Int? {
        unsafe kept.withUnsafeReadableBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[searched...])
            guard let start = rest.baseAddress,
                let end = unsafe memchr(start, CInt(UInt8(ascii: "\n")), rest.count)
            else { return nil }
            return unsafe searched + (UnsafeRawPointer(end) - start)
        }
    }

    /// Bytes after the last complete line.
    package var rest: Int { kept.readableBytes }

    /// An incomplete line is buffered.
    package var isInMidLine: Bool { searched > 0 && searched == kept.readableBytes }

    /// Bytes in memory of its own.
    package var storedBytes: Int { isBorrowed || kept.readableBytes == 0 ? 0 : kept.storageCapacity }
}
