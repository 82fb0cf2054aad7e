/// Replaces a `body_base64`: the content comes piece by piece, with `api.write`.
public struct BodyStream: WireObject {
    /// In bytes; `nil`: not known before its end.
    public var size: Int?
    /// The client can read it only once: a retry fails instead.
    public var once = false

    public init(blank: Blank) {}
    public init(size: Int? = nil, once: Bool = false) {
        self.size = size
        self.once = once
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("size", &size, .count)
        try visitor.optional("once", &once, .bool, default: false)
    }
}

/// Whether the response comes with the result, or piece by piece with `api.read`.
public enum ResponseMode: String, Sendable, CaseIterable {
    case whole
    case stream
}
