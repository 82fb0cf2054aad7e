/// Of `login.start`.
public struct LoginStartParams: Sendable, Equatable, HoldsSecrets {
    public var provider: String
    /// `nil`: named after the provider.
    public var session: SessionName?
    /// `nil`: the profile's default.
    public var environment: String?
    /// `nil`: the profile's first.
    public var method: String?
    /// What is known already, by field name. Secret.
    public var fields: [String: String]
    /// Whether the answers may be kept for signing in again without a person.
    public var remember: Bool
    /// Whether the person has a browser on this machine; `browser` on the wire.
    public var hasBrowser: Bool
    /// Ends another sign-in to the same session that is in progress; otherwise it is `busy`.
    public var replacesSignIn: Bool
    /// Whether the sign-in may give the session to another account without asking.
    public var replaceAccount: Bool

    public init(
        provider: String, session: SessionName? = nil, environment: String? = nil, method: String? = nil,
        fields: [String: String] = [:], remember: Bool = false, hasBrowser: Bool = true, replacesSignIn: Bool = false,
        replaceAccount: Bool = false
    ) {
        self.provider = provider
        self.session = session
        self.environment = environment
        self.method = method
        self.fields = fields
        self.remember = remember
        self.hasBrowser = hasBrowser
        self.replacesSignIn = replacesSignIn
        self.replaceAccount = replaceAccount
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        provider = try members.required("provider", .string)
        session = try members.optional("session", .sessionName)
        environment = try members.optional("environment", .string)
        method = try members.optional("method", .string)
        fields = try members.optional("fields", .stringsByName) ?? [:]
        remember = try members.optional("remember", .bool) ?? false
        hasBrowser = try members.optional("browser", .bool) ?? true
        replacesSignIn = try members.optional("replace_sign_in", .bool) ?? false
        replaceAccount = try members.optional("replace_account", .bool) ?? false
    }

    public var json: JSON {
        var object: JSONObject = ["provider": .string(provider)]
        object["session"] = session.map { .string($0.text) }
        object["environment"] = environment.map(JSON.string)
        object["method"] = method.map(JSON.string)
        if !fields.isEmpty { object["fields"] = .text(fields) }
        if remember { object["remember"] = true }
        if !hasBrowser { object["browser"] = false }
        if replacesSignIn { object["replace_sign_in"] = true }
        if replaceAccount { object["replace_account"] = true }
        return .object(object)
    }
}

/// Of `login.answer`.
public struct LoginAnswerParams: Sendable, Equatable, HoldsSecrets {
    /// As the step named it.
    public var login: String
    /// By field name. Secret.
    public var fields: [String: String]

    public init(login: String, fields: [String: String]) {
        self.login = login
        self.fields = fields
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        login = try members.required("login", .string)
        fields = try members.required("fields", .stringsByName)
    }

    public var json: JSON { ["login": .string(login), "fields": .text(fields)] }
}

/// Of `login.wait`, `login.cancel` and `login.resend`.
public struct LoginParams: Sendable, Equatable {
    public var login: String

    public init(login: String) {
        self.login = login
    }

    public init(_ object: JSONObject) throws(AgentError) {
        login = try Members(object, in: .params).required("login", .string)
    }

    public var json: JSON { ["login": .string(login)] }
}

/// Of `login.redirect`.
public struct LoginRedirectParams: Sendable, Equatable, HoldsSecrets {
    /// What the desktop was given to open. Secret.
    public var address: String

    public init(address: String) {
        self.address = address
    }

    public init(_ object: JSONObject) throws(AgentError) {
        address = try Members(object, in: .params).required("address", .string)
    }

    public var json: JSON { ["address": .string(address)] }
}
