/// What a sign-in needs next.
public enum StepKind: String, Sendable, CaseIterable {
    /// Answers to `fields`, by `login.answer`.
    case fields
    /// A person opens `verificationURI` on any device and types `userCode` (RFC 8628).
    case device
    /// A person opens `url` on this machine.
    case browser
    case done
    case failed
}

/// Of the `login` methods. Only what its kind needs is there. Instants are Unix seconds.
public struct Step: Sendable, Equatable {
    /// Names this sign-in in the calls that follow.
    public var login: String
    public var kind: StepKind
    public var fields: [StepField]?
    /// The provider's own words, or ours, for the person.
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
    /// The browser comes back by an address of this scheme, which the client has the desktop hand to `login.redirect`.
    public var redirectScheme: String?
    /// SHA-256 of the certificate of the page that the browser comes back to, which was made for this sign-in: the
    /// browser will warn of it.
    public var certificateSHA256: String?
    public var status: SessionStatus?
    public var error: AgentError?

    public init(
        login: String, kind: StepKind, fields: [StepField]? = nil, message: String? = nil, sentTo: String? = nil,
        expiresAt: Double? = nil, resendAt: Double? = nil, verificationURI: String? = nil,
        verificationURIComplete: String? = nil, userCode: String? = nil, url: String? = nil,
        redirectScheme: String? = nil, certificateSHA256: String? = nil, status: SessionStatus? = nil,
        error: AgentError? = nil
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
        self.status = status
        self.error = error
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        login = try members.required("login", .string)
        kind = try members.required("kind", .word)
        fields = try members.list("fields", StepField.init)
        message = try members.optional("message", .string)
        sentTo = try members.optional("sent_to", .string)
        expiresAt = try members.optional("expires_at", .instant)
        resendAt = try members.optional("resend_at", .instant)
        verificationURI = try members.optional("verification_uri", .string)
        verificationURIComplete = try members.optional("verification_uri_complete", .string)
        userCode = try members.optional("user_code", .string)
        url = try members.optional("url", .string)
        redirectScheme = try members.optional("redirect_scheme", .string)
        certificateSHA256 = try members.optional("certificate_sha256", .string)
        status = try members.nested("status", SessionStatus.init)
        error = try members.optional("error", .any).map(AgentError.init(json:))
    }

    public var json: JSON {
        var object: JSONObject = ["login": .string(login), "kind": .string(kind.rawValue)]
        object["fields"] = fields.map { .array($0.map(\.json)) }
        object["message"] = message.map(JSON.string)
        object["sent_to"] = sentTo.map(JSON.string)
        object["expires_at"] = expiresAt.map(JSON.instant)
        object["resend_at"] = resendAt.map(JSON.instant)
        object["verification_uri"] = verificationURI.map(JSON.string)
        object["verification_uri_complete"] = verificationURIComplete.map(JSON.string)
        object["user_code"] = userCode.map(JSON.string)
        object["url"] = url.map(JSON.string)
        object["redirect_scheme"] = redirectScheme.map(JSON.string)
        object["certificate_sha256"] = certificateSHA256.map(JSON.string)
        object["status"] = status?.json
        object["error"] = error?.json
        return .object(object)
    }
}
