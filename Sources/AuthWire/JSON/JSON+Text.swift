extension JSON {
    /// - Parameters:
    ///   - bytes: the text in UTF-8.
    ///   - values: the maximum number of values, including arrays and objects: ``Limits/jsonValues`` for a peer's text.
    /// - Throws: ``JSONError`` with the place of the first violation of RFC 8259, or of the first value over the limit.
    public init(parsing bytes: Span<UInt8>, values: Int = .max) throws(JSONError) {
        self = try JSONReader.read(bytes, values: values)
    }

    public init(parsing bytes: [UInt8], values: Int = .max) throws(JSONError) {
        self = try JSONReader.read(bytes.span, values: values)
    }

    public init(parsing text: String, values: Int = .max) throws(JSONError) {
        self = try JSONReader.read(text.utf8Span.span, values: values)
    }

    /// For several texts with one limit.
    /// - Parameter values: the maximum number of values; those that were read are subtracted.
    package init(parsing text: String, subtractingFrom values: inout Int) throws(JSONError) {
        self = try JSONReader.read(text.utf8Span.span, subtractingFrom: &values)
    }

    public init(parsing bytes: ArraySlice<UInt8>) throws(JSONError) {
        self = try JSONReader.read(bytes.span)
    }

    public init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
        self = try JSONReader.read(Array(bytes).span)
    }

    /// The same JSON on one line without spaces between values. It is checked and copied without creating values.
    public static func compacted(_ text: Span<UInt8>) throws(JSONError) -> [UInt8] {
        try JSONCompactor.compact(text)
    }

    /// One line without spaces and without a line feed.
    public func serialized() -> [UInt8] {
        var writer = JSONWriter(indented: false)
        writer.write(self)
        return writer.bytes
    }

    /// - Parameter pretty: several lines, indented by two spaces per level.
    public func text(pretty: Bool = false) -> String {
        var writer = JSONWriter(indented: pretty)
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
