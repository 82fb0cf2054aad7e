public struct LoginStart: AgentMethod, HoldsSecrets {
    public typealias Result = Step
    public static let info = MethodInfo("login.start", .account, "Starts a sign-in.", secrecy: .ownAgentOnly)

    /// Empty if ``url`` is given.
    public var provider = ""
    /// The protected resource to sign in to, instead of a provider (RFC 9728).
    public var url: String?
    /// `nil`: named after the provider or the URL's host.
    public var session: SessionName?
    /// `nil`: the profile's default.
    public var environment: String?
    /// `nil`: the profile's first.
    public var method: String?
    /// OAuth only: replaces the scopes of the profile or the resource.
    public var scopes: [String]?
    /// The values that are known already, by field name. Secret.
    public var fields: [String: String] = [:]
    /// Whether to store the fields, to sign in again without the user.
    public var remember = false
    /// Whether the user has a browser on this machine; `browser` on the wire.
    public var hasBrowser = true
    /// OAuth only: whether the browser of another machine is used, whose agent the client calls; `borrow` on the wire.
    public var borrowsBrowser = false
    /// Ends another sign-in to the same session that is in progress; otherwise it is `busy`.
    public var replacesSignIn = false
    /// Whether the sign-in may give the session to another account without asking.
    public var replaceAccount = false
    /// With ``url``: whether the sign-in of another session at the same server may be used.
    public var share = true
    /// The time for this request, and for each wait for a network in the sign-in. `nil`: the limit of the agent.
    public var timeout: Duration?

    public init(blank: Blank) {}
    public init(
        provider: String = "", url: String? = nil, session: SessionName? = nil, environment: String? = nil,
        method: String? = nil, scopes: [String]? = nil, fields: [String: String] = [:], remember: Bool = false,
        hasBrowser: Bool = true, borrowsBrowser: Bool = false, replacesSignIn: Bool = false,
        replaceAccount: Bool = false, share: Bool = true, timeout: Duration? = nil
    ) {
        self.provider = provider
        self.url = url
        self.scopes = scopes
        self.session = session
        self.environment = environment
        self.method = method
        self.fields = fields
        self.remember = remember
        self.hasBrowser = hasBrowser
        self.borrowsBrowser = borrowsBrowser
        self.replacesSignIn = replacesSignIn
        self.replaceAccount = replaceAccount
        self.share = share
        self.timeout = timeout
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("provider", &provider, .string, default: "")
        try visitor.optional("url", &url, .string)
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("environment", &environment, .string)
        try visitor.optional("method", &method, .string)
        try visitor.optional("scopes", &scopes, .strings)
        try visitor.optional("fields", &fields, .stringsByName, default: [:])
        try visitor.optional("remember", &remember, .bool, default: false)
        try visitor.optional("browser", &hasBrowser, .bool, default: true)
        try visitor.optional("borrow", &borrowsBrowser, .bool, default: false)
        try visitor.optional("replace_sign_in", &replacesSignIn, .bool, default: false)
        try visitor.optional("replace_account", &replaceAccount, .bool, default: false)
        try visitor.optional("share", &share, .bool, default: true)
        try visitor.optional("timeout_ms", &timeout, .milliseconds)
    }

    public func validate() throws(AgentError) {
        guard provider.isEmpty == (url != nil) else {
            throw .invalidParams("params: expected either provider or url.")
        }
    }
}

public struct LoginAnswer: AgentMethod, HoldsSecrets {
    public typealias Result = Step
    public static let info = MethodInfo("login.answer", .account, "Sends the fields of a step.", secrecy: .ownAgentOnly)

    /// From the step.
    public var login = ""
    /// By field name. Secret.
    public var fields: [String: String] = [:]
    /// What the agent of another machine has answered to the request of a step `lend`. Secret.
    public var lent: LoginLent?
    /// The time for this request, and for each wait for a network from now on. `nil`: the waits are as long as before.
    public var timeout: Duration?

    public init(blank: Blank) {}
    public init(login: String, fields: [String: String], lent: LoginLent? = nil, timeout: Duration? = nil) {
        self.login = login
        self.fields = fields
        self.lent = lent
        self.timeout = timeout
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("login", &login, .string)
        try visitor.required("fields", &fields, .stringsByName)
        try visitor.optional("lent", &lent, .object)
        try visitor.optional("timeout_ms", &timeout, .milliseconds)
    }
}

/// Lets a client report a broken rule before it asks for the next field.
public struct LoginCheck: AgentMethod, HoldsSecrets {
    public typealias Result = Step
    public static let info = MethodInfo(
        "login.check", .account, "Checks answers against the rules of their fields. Nothing is kept or sent.",
        secrecy: .ownAgentOnly)

    /// From the step.
    public var login = ""
    /// By field name. Secret.
    public var fields: [String: String] = [:]

    public init(blank: Blank) {}
    public init(login: String, fields: [String: String]) {
        self.login = login
        self.fields = fields
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("login", &login, .string)
        try visitor.required("fields", &fields, .stringsByName)
    }
}

public struct LoginWait: MethodWithParams {
    public typealias Result = Step
    public static let info = MethodInfo("login.wait", .account, "Waits until a sign-in ends or asks for something.")
    public var params: LoginParams
    public init(_ params: LoginParams) { self.params = params }
}

public struct LoginCancel: MethodWithParams {
    public typealias Result = Step
    public static let info = MethodInfo("login.cancel", .account, "Ends a sign-in.")
    public var params: LoginParams
    public init(_ params: LoginParams) { self.params = params }
}

public struct LoginResend: MethodWithParams {
    public typealias Result = Step
    public static let info = MethodInfo("login.resend", .account, "Makes the provider send another code.")
    public var params: LoginParams
    public init(_ params: LoginParams) { self.params = params }
}

public struct LoginRedirect: AgentMethod, HoldsSecrets {
    public typealias Result = Nothing
    public static let info = MethodInfo(
        "login.redirect", .account, "Sends the redirect address of the browser to the sign-in that waits for it.",
        secrecy: .ownAgentOnly)

    /// The address that the desktop opened. Secret.
    public var address = ""

    public init(blank: Blank) {}
    public init(address: String) { self.address = address }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("address", &address, .string)
    }
}
