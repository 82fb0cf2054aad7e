/// The result of `api.write`.
public struct StreamTaken: WireObject {
    /// Where the next piece begins: after this one, or at 0 if the body must be sent again.
    public var next = 0
    /// No more pieces are needed: the call has its response, or will have it.
    public var done = false

    public init(blank: Blank) {}
    public init(next: Int, done: Bool = false) {
        self.next = next
        self.done = done
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("next", &next, .count)
        try visitor.optional("done", &done, .bool, default: false)
    }
}

/// The result of `api.read`: the next piece of a response.
public struct StreamPiece: WireObject, HoldsSecrets {
    public var bytes: [UInt8] = []
    /// Nothing comes after it, and the stream has ended.
    public var isLast = false

    public init(blank: Blank) {}
    public init(bytes: [UInt8], isLast: Bool) {
        self.bytes = bytes
        self.isLast = isLast
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("body_base64", &bytes, .base64)
        try visitor.required("last", &isLast, .bool)
    }
}
