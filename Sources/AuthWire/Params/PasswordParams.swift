/// The params of the `password` methods: for a session, or for a provider if there is no session yet.
public struct PasswordParams: WireObject, HoldsSecrets {
    public var session: SessionName?
    public var provider: String?
    public var environment: String?
    /// By field name. Secret.
    public var fields: [String: String] = [:]
    /// Ends another sign-in to the same session that is in progress; otherwise it is `busy`.
    public var replacesSignIn = false
    /// For `password.reset`: whether it may give the session to another account without asking.
    public var replaceAccount = false
    /// The time for this request, and for each wait for a network. `nil`: as long as the agent lets a request wait.
    public var timeout: Duration?

    public init(blank: Blank) {}
    public init(
        session: SessionName? = nil, provider: String? = nil, environment: String? = nil,
        fields: [String: String] = [:], replacesSignIn: Bool = false, replaceAccount: Bool = false,
        timeout: Duration? = nil
    ) {
        self.session = session
        self.provider = provider
        self.environment = environment
        self.fields = fields
        self.replacesSignIn = replacesSignIn
        self.replaceAccount = replaceAccount
        self.timeout = timeout
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("provider", &provider, .string)
        try visitor.optional("environment", &environment, .string)
        try visitor.optional("fields", &fields, .stringsByName, default: [:])
        try visitor.optional("replace_sign_in", &replacesSignIn, .bool, default: false)
        try visitor.optional("replace_account", &replaceAccount, .bool, default: false)
        try visitor.optional("timeout_ms", &timeout, .milliseconds)
    }
}
