/// The result of `session.trust`.
public struct TrustResult: WireObject {
    /// The origins that the session was signed in with and its profile no longer names.
    public var former: [String] = []
    /// The origins that the profile names now; empty if nothing has changed.
    public var origins: [String] = []
    /// The session's tokens may be sent to ``origins`` from now on; `trusted` on the wire.
    public var isTrusted = false
    public var status = SessionStatus(blank: Blank())

    public init(blank: Blank) {}
    public init(former: [String], origins: [String], isTrusted: Bool, status: SessionStatus) {
        self.former = former
        self.origins = origins
        self.isTrusted = isTrusted
        self.status = status
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("former", &former, .strings)
        try visitor.required("origins", &origins, .strings)
        try visitor.required("trusted", &isTrusted, .bool)
        try visitor.required("status", &status, .object)
    }
}
