extension JSON {
    /// - Throws: ``JSONError`` with the place of the first thing that RFC 8259 does not allow.
    public init(parsing bytes: Span<UInt8>) throws(JSONError) {
        self = try JSONReader.read(bytes)
    }

    public init(parsing bytes: [UInt8]) throws(JSONError) {
        self = try JSONReader.read(bytes.span)
    }

    public init(parsing text: String) throws(JSONError) {
        self = try JSONReader.read(text.utf8Span.span)
    }

    public init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
        let outcome = bytes.withContiguousStorageIfAvailable { buffer in
            Result { () throws(JSONError) -> JSON in try JSONReader.read(unsafe buffer.span) }
        }
        self = if let outcome { try outcome.get() } else { try JSONReader.read(Array(bytes).span) }
    }

    /// One line without spaces or a line feed at the end.
    public func serialized() -> [UInt8] {
        var writer = JSONWriter(indented: false)
        writer.write(self)
        return writer.bytes
    }

    /// - Parameter pretty: on several lines, two spaces a level, for people.
    public func text(pretty: Bool = false) -> String {
        var writer = JSONWriter(indented: pretty)
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
