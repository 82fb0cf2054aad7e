/// Of `api.read` and `api.close`.
public struct StreamParams: WireObject {
    /// The name that this connection gave it.
    public var stream = ""

    public init(blank: Blank) {}

    public init(stream: String) {
        self.stream = stream
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("stream", &stream, .string)
    }
}

/// Of `api.write`: one piece of a body.
public struct StreamWriteParams: WireObject, HoldsSecrets {
    public var stream = ""
    /// Where in the body the piece begins.
    public var offset = 0
    public var bytes: [UInt8] = []
    /// Nothing comes after it.
    public var isLast = false

    public init(blank: Blank) {}

    public init(stream: String, offset: Int, bytes: [UInt8], isLast: Bool = false) {
        self.stream = stream
        self.offset = offset
        self.bytes = bytes
        self.isLast = isLast
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("stream", &stream, .string)
        try visitor.required("offset", &offset, .count)
        try visitor.written("body_base64", &bytes, .base64)
        try visitor.optional("last", &isLast, .bool, default: false)
    }
}
