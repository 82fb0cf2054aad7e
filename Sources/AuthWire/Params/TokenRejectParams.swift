/// Of `token.reject`: "this one got a 401".
public struct TokenRejectParams: WireObject, HoldsSecrets {
    public var session: SessionName?
    /// Secret.
    public var accessToken = ""

    public init(blank: Blank) {}

    public init(session: SessionName? = nil, accessToken: String) {
        self.session = session
        self.accessToken = accessToken
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.required("access_token", &accessToken, .string)
    }
}
