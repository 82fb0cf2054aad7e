/// Of `agent.unlock`.
public struct UnlockParams: Sendable, Equatable, HoldsSecrets {
    /// Secret. `nil`: the agent tells whether it needs one.
    public var passphrase: String?

    public init(passphrase: String? = nil) {
        self.passphrase = passphrase
    }

    public init(_ object: JSONObject) throws(AgentError) {
        passphrase = try Members(object, in: .params).optional("passphrase", .string)
    }

    public var json: JSON {
        var object = JSONObject()
        object["passphrase"] = passphrase.map(JSON.string)
        return .object(object)
    }
}

/// Of `store.rekey`: what the new keys are sealed with; neither: what they are sealed with now.
public struct RekeyParams: Sendable, Equatable, HoldsSecrets {
    /// A new one. Secret.
    public var passphrase: String?
    /// What the new key is made of: the bytes of the file that the agent will find it in. Secret. Not a path: the agent
    /// opens no file for a client.
    public var key: [UInt8]?

    public init(passphrase: String? = nil, key: [UInt8]? = nil) {
        self.passphrase = passphrase
        self.key = key
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        passphrase = try members.optional("passphrase", .string)
        key = try members.optional("key_base64", .base64)
    }

    public var json: JSON {
        var object = JSONObject()
        object["passphrase"] = passphrase.map(JSON.string)
        object["key_base64"] = key.map { .string(Base64.encode($0)) }
        return .object(object)
    }
}
