package import AuthWire
package import NIOCore

/// A line that would block the loop for too long: it is parsed on another thread, one at a time.
package struct LongLine: Sendable {
    package typealias Parse = @Sendable (_ line: [ByteBuffer], _ values: Int) async -> Result<JSON, JSONError>

    /// The line, from its first part to its last.
    let parts: [ByteBuffer]
    /// How many values it may have.
    let values: Int

    package static let parseJSON: Parse = { parts, values in
        var line: [UInt8] = []
        line.reserveCapacity(parts.reduce(0) { $0 + $1.readableBytes })
        for part in parts { line += part.readableBytesView }
        return Result { () throws(JSONError) in try JSON(parsing: line, values: values) }
    }

    /// How many bytes of the line each request of a batch has. Empty if the line is not a batch.
    static func requestBytes(of line: Result<JSON, JSONError>) -> [Int] {
        (try? line.get())?.arrayValue?.map(\.leastBytes) ?? []
    }
}

extension JSON {
    /// Bytes of the shortest text with these strings and as many values.
    var leastBytes: Int {
        switch self {
        case .null, .bool, .integer, .unsigned, .number: 1
        case .string(let text): text.utf8.count + 2
        case .array(let values): values.reduce(1) { $0 + $1.leastBytes + 1 }
        case .object(let members): members.reduce(1) { $0 + $1.key.utf8.count + $1.value.leastBytes + 4 }
        }
    }
}
