/// Names the session that becomes the default one.
public struct SessionUseParams: WireObject {
    public var session = SessionName.blank

    public init(blank: Blank) {}

    public init(session: SessionName) {
        self.session = session
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("session", &session, .sessionName)
    }
}
