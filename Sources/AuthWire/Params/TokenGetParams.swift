/// Of `token.get`.
public struct TokenGetParams: WireObject {
    public var session: SessionName?
    /// The token must be good for at least this much longer, else it is renewed first.
    public var minValid: Duration?
    public var scopes: [String]?
    public var audience: String?
    /// In the caller's own words, for whoever watches.
    public var purpose: String?
    public var timeout: Duration?
    /// Where the caller sends the token: it is refused if the session does not belong to that origin.
    public var origin: String?

    public init(blank: Blank) {}

    public init(
        session: SessionName? = nil, minValid: Duration? = nil, scopes: [String]? = nil, audience: String? = nil,
        purpose: String? = nil, timeout: Duration? = nil, origin: String? = nil
    ) {
        self.session = session
        self.minValid = minValid
        self.scopes = scopes
        self.audience = audience
        self.purpose = purpose
        self.timeout = timeout
        self.origin = origin
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("min_valid_ms", &minValid, .milliseconds)
        try visitor.optional("scopes", &scopes, .strings)
        try visitor.optional("audience", &audience, .string)
        try visitor.optional("purpose", &purpose, .string)
        try visitor.optional("timeout_ms", &timeout, .milliseconds)
        try visitor.optional("origin", &origin, .string)
    }
}
