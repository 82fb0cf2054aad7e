package import AuthWire

/// A line that would block the loop for too long: it is parsed on another thread, one at a time.
package struct LongLine: Sendable {
    package typealias Parse = @Sendable (_ line: [UInt8], _ values: Int) async -> Result<JSON, JSONError>

    let bytes: [UInt8]
    /// How many values it may have.
    let values: Int

    package static let parseJSON: Parse = { line, values in
        Result { () throws(JSONError) in try JSON(parsing: line, values: values) }
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
