/// Splits a stream of bytes into lines that end with LF, and holds no line longer than `limit`.
package struct LineBuffer {
    private let limit: Int
    private var bytes: [UInt8] = []
    /// The start of the first line that is not returned yet, and the first byte that is not searched for LF yet.
    private var start = 0
    private var searched = 0

    package init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 4 * ClientLimits.readBytes)
            (start, searched) = (0, 0)
        } else if start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            searched -= start
            start = 0
        }
        unsafe bytes.append(contentsOf: more)
    }

    /// The next whole line without its LF.
    package mutating func next() throws(ClientError) -> ArraySlice<UInt8>? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = bytes.count
            guard bytes.count - start <= limit else { throw .tooLong(limit: limit) }
            return nil
        }
        let line = bytes[start..<end]
        start = end + 1
        searched = start
        guard line.count <= limit else { throw .tooLong(limit: limit) }
        return line
    }

    /// Whether the buffer has an incomplete line.
    var isPartial: Bool { start < bytes.count }
}
