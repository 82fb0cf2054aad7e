/// Of `token.get`.
public struct TokenGetParams: Sendable, Equatable {
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

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        minValid = try members.optional("min_valid_ms", .milliseconds)
        scopes = try members.optional("scopes", .strings)
        audience = try members.optional("audience", .string)
        purpose = try members.optional("purpose", .string)
        timeout = try members.optional("timeout_ms", .milliseconds)
        origin = try members.optional("origin", .string)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["min_valid_ms"] = minValid.map(JSON.milliseconds)
        object["scopes"] = scopes.map(JSON.strings)
        object["audience"] = audience.map(JSON.string)
        object["purpose"] = purpose.map(JSON.string)
        object["timeout_ms"] = timeout.map(JSON.milliseconds)
        object["origin"] = origin.map(JSON.string)
        return .object(object)
    }
}
