/// One line about a provider.
public struct ProviderSummary: Sendable, Equatable {
    public var name: String
    public var title: String
    public var environments: [String]
    public var methods: [String]
    /// "bundled", or the path of the profile.
    public var source: String

    public init(name: String, title: String, environments: [String] = [], methods: [String] = [], source: String) {
        self.name = name
        self.title = title
        self.environments = environments
        self.methods = methods
        self.source = source
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        name = try members.required("name", .string)
        title = try members.required("title", .string)
        environments = try members.optional("environments", .strings) ?? []
        methods = try members.optional("methods", .strings) ?? []
        source = try members.required("source", .string)
    }

    public var json: JSON {
        [
            "name": .string(name), "title": .string(title), "environments": .strings(environments),
            "methods": .strings(methods), "source": .string(source),
        ]
    }
}

/// Of `provider.list`.
public struct ProviderList: Sendable, Equatable {
    public var providers: [ProviderSummary]

    public init(providers: [ProviderSummary]) {
        self.providers = providers
    }

    public init(_ json: JSON) throws(AgentError) {
        providers = try Members(result: json).list("providers", ProviderSummary.init) ?? []
    }

    public var json: JSON { ["providers": .array(providers.map(\.json))] }
}
