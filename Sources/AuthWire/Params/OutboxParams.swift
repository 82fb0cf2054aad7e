/// The params of the `outbox` methods.
public struct OutboxParams: WireObject {
    public var session: SessionName?
    /// One entry; `nil`: all of them.
    public var id: String?

    public init(blank: Blank) {}
    public init(session: SessionName? = nil, id: String? = nil) {
        self.session = session
        self.id = id
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("id", &id, .string)
    }
}
