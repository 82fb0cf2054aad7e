/// Names a session; `nil` is the default one.
public struct SessionParams: WireObject {
    public var session: SessionName?

    public init(blank: Blank) {}
    public init(session: SessionName? = nil) { self.session = session }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
    }
}
