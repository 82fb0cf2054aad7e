/// Of the `password` methods: about a session, or about a provider when there is none yet.
public struct PasswordParams: Sendable, Equatable, HoldsSecrets {
    public var session: SessionName?
    public var provider: String?
    public var environment: String?
    /// By field name. Secret.
    public var fields: [String: String]
    /// Ends another sign-in to the same session that is in progress; otherwise it is `busy`.
    public var replacesSignIn: Bool
    /// Of `password.reset`: whether it may give the session to another account without asking.
    public var replaceAccount: Bool

    public init(
        session: SessionName? = nil, provider: String? = nil, environment: String? = nil,
        fields: [String: String] = [:], replacesSignIn: Bool = false, replaceAccount: Bool = false
    ) {
        self.session = session
        self.provider = provider
        self.environment = environment
        self.fields = fields
        self.replacesSignIn = replacesSignIn
        self.replaceAccount = replaceAccount
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        provider = try members.optional("provider", .string)
        environment = try members.optional("environment", .string)
        fields = try members.optional("fields", .stringsByName) ?? [:]
        replacesSignIn = try members.optional("replace_sign_in", .bool) ?? false
        replaceAccount = try members.optional("replace_account", .bool) ?? false
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["provider"] = provider.map(JSON.string)
        object["environment"] = environment.map(JSON.string)
        if !fields.isEmpty { object["fields"] = .text(fields) }
        if replacesSignIn { object["replace_sign_in"] = true }
        if replaceAccount { object["replace_account"] = true }
        return .object(object)
    }
}
