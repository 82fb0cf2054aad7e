/// Of `session.logout`.
public struct LogoutParams: WireObject {
    public var session: SessionName?
    /// Whether the provider is told too, where it can be; on the wire true unless it says otherwise.
    public var revoke = true

    public init(blank: Blank) {}

    public init(session: SessionName? = nil, revoke: Bool = true) {
        self.session = session
        self.revoke = revoke
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.written("revoke", &revoke, .bool)
    }
}
