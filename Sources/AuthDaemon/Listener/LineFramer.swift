internal import Glibc
package import NIOCore

/// Cuts a stream into lines (LF), keeping what is no whole line yet.
///
/// Invariant: `kept` begins at the beginning of a line, and its first `searched` bytes hold no line feed.
package struct LineFramer {
    package enum Piece: Equatable {
        /// Without its line feed.
        case line(ByteBuffer)
        /// More than the limit without a line feed. Nothing after it can be trusted to begin a line.
        case tooLong
    }

    private let limit: Int
    private var kept = ByteBuffer()
    /// `kept` is where somebody else will read into again.
    private var isBorrowed = false
    private var searched = 0

    /// - Parameter limit: in bytes, the line feed not counted.
    package init(limit: Int) {
        self.limit = limit
    }

    /// - Parameter bytes: good until ``keepRest()``.
    package mutating func append(_ bytes: ByteBuffer) {
        if kept.readableBytes == 0 {
            kept = bytes
            isBorrowed = true
        } else {
            kept.discardReadBytes()
            kept.writeImmutableBuffer(bytes)
        }
    }

    /// Copies what was not taken yet.
    package mutating func keepRest() {
        guard isBorrowed else { return }
        isBorrowed = false
        kept = kept.readableBytes > 0 ? ByteBuffer(bytes: kept.readableBytesView) : ByteBuffer()
    }

    /// `nil` until more bytes come.
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

    /// What came after the last whole line.
    package var rest: Int { kept.readableBytes }

    /// Bytes of a line are there, and not all of it.
    package var isInMidLine: Bool { searched > 0 && searched == kept.readableBytes }

    /// What it keeps, in memory of its own.
    package var storedBytes: Int { isBorrowed || kept.readableBytes == 0 ? 0 : kept.storageCapacity }
}
