internal import Glibc
package import NIOCore

/// Splits a stream into lines (LF), and buffers an incomplete line: a long one in parts, so that it is not copied as it grows.
///
/// Invariant: `parts` and `buffer` begin with a line; `parts` and the first `searched` bytes of `buffer` contain no line feed.
package struct LineFramer {
    package enum Piece: Equatable {
        /// Without its line feed.
        case line(ByteBuffer)
        /// The same in parts, with more than ``mostInPart`` bytes.
        case longLine([ByteBuffer])
        /// More than the limit without a line feed. What follows need not begin a line.
        case tooLong
    }

    /// A longer line is kept in parts of at most so many bytes: another thread joins them.
    static let mostInPart = 64 << 10

    private let limit: Int
    private var parts: [ByteBuffer] = []
    private var partBytes = 0
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
        if isInMidLine, buffer.readableBytes + bytes.readableBytes > Self.mostInPart {
            copyRest()
            parts.append(buffer)
            partBytes += buffer.readableBytes
            buffer = ByteBuffer()
            searched = 0
        }
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
            if rest > limit { return .tooLong }
            if rest == 0 { buffer = ByteBuffer() }
            return nil
        }
        searched = 0
        guard partBytes + length <= limit, let line = buffer.readSlice(length: length) else { return .tooLong }
        buffer.moveReaderIndex(forwardBy: 1)
        guard partBytes > 0 else { return .line(line) }
        defer { (parts, partBytes) = ([], 0) }
        guard partBytes + length > Self.mostInPart else {
            var whole = ByteBuffer()
            whole.reserveCapacity(partBytes + length)
            for part in parts + [line] { whole.writeImmutableBuffer(part) }
            return .line(whole)
        }
        // It may be in the buffer that its owner will overwrite.
        return .longLine(parts + [ByteBuffer(bytes: line.readableBytesView)])
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
    package var rest: Int { partBytes + buffer.readableBytes }

    /// An incomplete line is buffered.
    package var isInMidLine: Bool { searched > 0 && searched == buffer.readableBytes }

    /// Bytes in memory that it has allocated.
    package var storedBytes: Int {
        let last = isBorrowed || buffer.readableBytes == 0 ? 0 : buffer.storageCapacity
        return parts.reduce(last) { $0 + $1.storageCapacity }
    }
}
