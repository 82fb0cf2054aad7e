/// Of `token.get`.
public struct TokenResult: Sendable, Equatable, HoldsSecrets {
    /// Secret.
    public var accessToken: String
    /// As the provider spells it; `Bearer` as a rule.
    public var tokenType: String
    /// Unix seconds; `nil`: the provider does not tell.
    public var expiresAt: Double?
    /// How long it is still valid, which may be less than was asked for; `nil`: the provider does not tell.
    public var valid: Duration?
    public var session: SessionName

    public init(
        accessToken: String, tokenType: String, expiresAt: Double? = nil, valid: Duration? = nil, session: SessionName
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresAt = expiresAt
        self.valid = valid
        self.session = session
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        accessToken = try members.required("access_token", .string)
        tokenType = try members.required("token_type", .string)
        expiresAt = try members.optional("expires_at", .instant)
        valid = try members.optional("valid_ms", .count).map { .milliseconds($0) }
        session = try members.required("session", .sessionName)
    }

    public var json: JSON {
        var object: JSONObject = ["access_token": .string(accessToken), "token_type": .string(tokenType)]
        object["expires_at"] = expiresAt.map(JSON.instant)
        object["session"] = .string(session.text)
        object["valid_ms"] = valid.map(JSON.milliseconds)
        return .object(object)
    }
}
