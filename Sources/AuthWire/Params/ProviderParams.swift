/// Of `provider.show`.
public struct ProviderParams: Sendable, Equatable {
    public var provider: String

    public init(provider: String) {
        self.provider = provider
    }

    public init(_ object: JSONObject) throws(AgentError) {
        provider = try Members(object, in: .params).required("provider", .string)
    }

    public var json: JSON { ["provider": .string(provider)] }
}

/// Of `provider.check`: a profile's text, so that the agent opens no file for a client.
public struct ProviderCheckParams: Sendable, Equatable, HoldsSecrets {
    public var text: String
    /// What the problems found name as the file.
    public var file: String?

    public init(text: String, file: String? = nil) {
        self.text = text
        self.file = file
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        text = try members.required("text", .string)
        file = try members.optional("file", .string)
    }

    public var json: JSON {
        var object: JSONObject = ["text": .string(text)]
        object["file"] = file.map(JSON.string)
        return .object(object)
    }
}
