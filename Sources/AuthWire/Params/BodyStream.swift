/// Replaces a `body_base64`: `api.write` sends the content piece by piece.
public struct BodyStream: WireObject {
    /// In bytes; `nil` if unknown.
    public var size: Int?
    /// The client can read it only once, so a retry fails.
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
