/// The params of `api.close`.
public struct StreamParams: WireObject {
    /// The name of the stream on this connection.
    public var stream = ""

    public init(blank: Blank) {}
    public init(stream: String) { self.stream = stream }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("stream", &stream, .string)
    }
}
