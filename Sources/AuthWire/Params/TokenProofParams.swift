/// Of `token.proof`: what a program is about to send by itself.
public struct TokenProofParams: Sendable, Equatable, HoldsSecrets {
    public var session: SessionName?
    public var method: String
    /// The whole address.
    public var url: String
    /// What the other side wants to read in the proof; `nil`: what it last told the agent, if anything.
    public var nonce: String?
    /// The token that goes with it, where it is not the session's own. Secret.
    public var accessToken: String?

    public init(
        session: SessionName? = nil, method: String, url: String, nonce: String? = nil, accessToken: String? = nil
    ) {
        self.session = session
        self.method = method
        self.url = url
        self.nonce = nonce
        self.accessToken = accessToken
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        method = try members.required("method", .string)
        url = try members.required("url", .string)
        nonce = try members.optional("nonce", .string)
        accessToken = try members.optional("access_token", .string)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["method"] = .string(method)
        object["url"] = .string(url)
        object["nonce"] = nonce.map(JSON.string)
        object["access_token"] = accessToken.map(JSON.string)
        return .object(object)
    }
}
