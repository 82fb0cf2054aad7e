/// Of `session.trust`.
public struct TrustParams: WireObject {
    public var session: SessionName?
    /// What the user has agreed to, as the result without it names them; `nil`: nothing is changed.
    public var origins: [String]?

    public init(blank: Blank) {}

    public init(session: SessionName? = nil, origins: [String]? = nil) {
        self.session = session
        self.origins = origins
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("origins", &origins, .strings)
    }
}
