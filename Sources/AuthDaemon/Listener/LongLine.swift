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
}
