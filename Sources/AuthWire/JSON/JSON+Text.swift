extension JSON {
    /// - Parameter values: how many values the text may hold at most, arrays and objects included.
    ///   ``Limits/jsonValues`` for what a peer sent.
    /// - Throws: ``JSONError`` with the place of the first thing that RFC 8259 does not allow, or of the first value
    ///   that is too many.
    public init(parsing bytes: Span<UInt8>, values: Int = .max) throws(JSONError) {
        self = try JSONReader.read(bytes, values: values)
    }

    public init(parsing bytes: [UInt8], values: Int = .max) throws(JSONError) {
        self = try JSONReader.read(bytes.span, values: values)
    }

    public init(parsing text: String) throws(JSONError) {
        self = try JSONReader.read(text.utf8Span.span)
    }

    public init(parsing bytes: ArraySlice<UInt8>) throws(JSONError) {
        self = try JSONReader.read(bytes.span)
    }

    public init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
        self = try JSONReader.read(Array(bytes).span)
    }

    /// The same JSON on one line, without the space between values: checked, and copied without making values.
    public static func compacted(_ text: Span<UInt8>) throws(JSONError) -> [UInt8] {
        try JSONCompactor.compact(text)
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
