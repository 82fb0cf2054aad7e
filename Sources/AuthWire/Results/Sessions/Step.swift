/// What a sign-in needs next.
public enum StepKind: String, Sendable, CaseIterable {
    /// The user fills in `fields`; they are sent with `login.answer`.
    case fields
    /// The user opens `verificationURI` on any device and types `userCode` (RFC 8628).
    case device
    /// The user opens `url` on this machine.
    case browser
    /// The client sends `lend` to the agent of a machine with a browser, and its result with `login.answer`.
    case lend
    /// The user does something elsewhere, such as opening a link in an e-mail, as `message` says.
    case wait
    case done
    case failed
}

/// The result of the `login` methods. It has only what its kind needs. Times are Unix seconds.
public struct Step: WireObject {
    /// Names this sign-in in the calls that follow.
    public var login = ""
    public var kind = StepKind.failed
    public var fields: [StepField]?
    /// The message of the provider or the agent for the user.
    public var message: String?
    /// Where a code was sent.
    public var sentTo: String?
    public var expiresAt: Double?
    /// When another code may be asked for.
    public var resendAt: Double?
    public var verificationURI: String?
    public var verificationURIComplete: String?
    public var userCode: String?
    public var url: String?
    /// The browser is redirected to an address with this scheme. The client registers the scheme, and sends the address with
    /// `login.redirect`.
    public var redirectScheme: String?
    /// SHA-256 of the certificate of the redirect page. It was created for this sign-in, so the browser will warn about it.
    public var certificateSHA256: String?
    public var lend: LoginLend?
    public var status: SessionStatus?
    public var error: AgentError?

    public init(blank: Blank) {}
    public init(
        login: String, kind: StepKind, fields: [StepField]? = nil, message: String? = nil, sentTo: String? = nil,
        expiresAt: Double? = nil, resendAt: Double? = nil, verificationURI: String? = nil,
        verificationURIComplete: String? = nil, userCode: String? = nil, url: String? = nil,
        redirectScheme: String? = nil, certificateSHA256: String? = nil, lend: LoginLend? = nil,
        status: SessionStatus? = nil, error: AgentError? = nil
    ) {
        self.login = login
        self.kind = kind
        self.fields = fields
        self.message = message
        self.sentTo = sentTo
        self.expiresAt = expiresAt
        self.resendAt = resendAt
        self.verificationURI = verificationURI
        self.verificationURIComplete = verificationURIComplete
        self.userCode = userCode
        self.url = url
        self.redirectScheme = redirectScheme
        self.certificateSHA256 = certificateSHA256
        self.lend = lend
        self.status = status
        self.error = error
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("login", &login, .string)
        try visitor.required("kind", &kind, .word)
        try visitor.optional("fields", &fields, .list())
        try visitor.optional("message", &message, .string)
        try visitor.optional("sent_to", &sentTo, .string)
        try visitor.optional("expires_at", &expiresAt, .instant)
        try visitor.optional("resend_at", &resendAt, .instant)
        try visitor.optional("verification_uri", &verificationURI, .string)
        try visitor.optional("verification_uri_complete", &verificationURIComplete, .string)
        try visitor.optional("user_code", &userCode, .string)
        try visitor.optional("url", &url, .string)
        try visitor.optional("redirect_scheme", &redirectScheme, .string)
        try visitor.optional("certificate_sha256", &certificateSHA256, .string)
        try visitor.optional("lend", &lend, .object)
        try visitor.optional("status", &status, .object)
        try visitor.optional("error", &error, .error)
    }
}
