/// Of `token.proof`: what a program is about to send by itself.
public struct TokenProofParams: WireObject, HoldsSecrets {
    public var session: SessionName?
    public var method = ""
    /// The whole address.
    public var url = ""
    /// What the other side wants to read in the proof; `nil`: what it last told the agent, if anything.
    public var nonce: String?
    /// The token that goes with it, where it is not the session's own. Secret.
    public var accessToken: String?

    public init(blank: Blank) {}

    public init(
        session: SessionName? = nil, method: String, url: String, nonce: String? = nil, accessToken: String? = nil
    ) {
        self.session = session
        self.method = method
        self.url = url
        self.nonce = nonce
        self.accessToken = accessToken
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.required("method", &method, .string)
        try visitor.required("url", &url, .string)
        try visitor.optional("nonce", &nonce, .string)
        try visitor.optional("access_token", &accessToken, .string)
    }
}
