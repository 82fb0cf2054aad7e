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
    /// Of a file on the agent's machine, an absolute path.
    public var keyFile: String?

    public init(passphrase: String? = nil, keyFile: String? = nil) {
        self.passphrase = passphrase
        self.keyFile = keyFile
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        passphrase = try members.optional("passphrase", .string)
        keyFile = try members.optional("key_file", .string)
    }

    public var json: JSON {
        var object = JSONObject()
        object["passphrase"] = passphrase.map(JSON.string)
        object["key_file"] = keyFile.map(JSON.string)
        return .object(object)
    }
}
