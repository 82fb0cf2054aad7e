import AuthWire

extension FuzzTarget {
    /// The reader of JSON, the writer, and what copies JSON without reading it.
    static let json = FuzzTarget("json") { bytes throws(Violation) in
        let compact = try? JSON.compacted(bytes.span)
        guard let value = try? JSON(parsing: bytes) else {
            return try require(compact == nil, "a text that cannot be read is copied")
        }
        guard let compact else { throw Violation("a text that can be read is not copied") }
        try require((try? JSON(parsing: compact)) == value, "the copy has another value")
        // A number that rounds to a whole one may be written with a point, so the texts of two readings are compared.
        let text = value.serialized()
        guard let again = try? JSON(parsing: text) else { throw Violation("what was written cannot be read") }
        try require(again == value && again.serialized() == text, "what was written has another value")
        try require(!text.contains(UInt8(ascii: "\n")), "what was written has several lines")
        try require((try? JSON(parsing: value.text(pretty: true))) == value, "the indented text has another value")
        let count = values(in: value)
        // All of several equal keys are read, and the last one counts.
        try require((try? JSON(parsing: bytes, values: count - 1)) == nil, "the limit of values does not hold")
        try require((try? JSON(parsing: compact, values: bytes.count + 1)) != nil, "more values than bytes")
    }

    private static func values(in json: JSON) -> Int {
        switch json {
        case .array(let elements): elements.reduce(1) { $0 + values(in: $1) }
        case .object(let object): object.reduce(1) { $0 + values(in: $1.value) }
        default: 1
        }
    }
}
