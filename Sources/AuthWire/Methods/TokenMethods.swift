public struct TokenGet: AgentMethod {
    public typealias Result = TokenResult
    public static let info = MethodInfo(
        "token.get", .token, "An access token that is valid now.", secrecy: .guarded, isStrict: true)

    public var session: SessionName?
    /// A token that is valid for less than this is renewed first.
    public var minValid: Duration?
    public var scopes: [String]?
    public var audience: String?
    /// Why the caller needs the token, as a text.
    public var purpose: String?
    public var timeout: Duration?
    /// Where the caller sends the token. The request fails if the session does not belong to that origin.
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

public struct TokenReject: AgentMethod, HoldsSecrets {
    public typealias Result = SessionStatus
    public static let info = MethodInfo(
        "token.reject", .token, "Reports that a token got a 401. It is renewed if it is still the current one.",
        secrecy: .ownAgentOnly, isStrict: true)

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

/// `token.proof`: the request that a program will send itself.
public struct TokenProof: AgentMethod, HoldsSecrets {
    public typealias Result = ProofResult
    public static let info = MethodInfo(
        "token.proof", .token,
        "A proof for one request that a program sends itself, if tokens are bound to a key (RFC 9449).",
        secrecy: .guarded, isStrict: true)

    /// With a token, the request may only go to an agent of the same user.
    public var sendsSecrets: Bool { accessToken != nil }

    public var session: SessionName?
    public var method = ""
    /// The whole address.
    public var url = ""
    /// The nonce of the server; `nil`: the last one that it sent to the agent, if any.
    public var nonce: String?
    /// The token for the proof, if it is not the session's own. Secret.
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
