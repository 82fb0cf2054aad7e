/// A base URL of a provider.
public struct EnvironmentInfo: Sendable, Equatable {
    public var name: String
    public var url: String
    /// `default` on the wire.
    public var isDefault: Bool

    public init(name: String, url: String, isDefault: Bool = false) {
        self.name = name
        self.url = url
        self.isDefault = isDefault
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        name = try members.required("name", .string)
        url = try members.required("url", .string)
        isDefault = try members.optional("default", .bool) ?? false
    }

    public var json: JSON { ["name": .string(name), "url": .string(url), "default": .bool(isDefault)] }
}

/// A way to sign in and what it asks for.
public struct SignInMethodInfo: Sendable, Equatable {
    public var name: String
    public var label: String
    public var fields: [StepField]

    public init(name: String, label: String, fields: [StepField] = []) {
        self.name = name
        self.label = label
        self.fields = fields
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        name = try members.required("name", .string)
        label = try members.required("label", .string)
        fields = try members.list("fields", StepField.init) ?? []
    }

    public var json: JSON {
        ["name": .string(name), "label": .string(label), "fields": .array(fields.map(\.json))]
    }
}

/// Of `provider.show`: a profile without its secrets.
public struct ProviderDetail: Sendable, Equatable {
    public var name: String
    public var title: String
    public var environments: [EnvironmentInfo]
    public var methods: [SignInMethodInfo]
    /// What can be done about a password: `set`, `change`, `request_reset`, `reset`.
    public var password: [SignInMethodInfo]
    /// What renews a session: `refresh`, `validate`, `sign-in` or `none`.
    public var renewal: String
    public var endpoints: [EndpointInfo]
    /// "bundled", or the path of the profile.
    public var source: String

    public init(
        name: String, title: String, environments: [EnvironmentInfo] = [], methods: [SignInMethodInfo] = [],
        password: [SignInMethodInfo] = [], renewal: String, endpoints: [EndpointInfo] = [], source: String
    ) {
        self.name = name
        self.title = title
        self.environments = environments
        self.methods = methods
        self.password = password
        self.renewal = renewal
        self.endpoints = endpoints
        self.source = source
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        name = try members.required("name", .string)
        title = try members.required("title", .string)
        environments = try members.list("environments", EnvironmentInfo.init) ?? []
        methods = try members.list("methods", SignInMethodInfo.init) ?? []
        password = try members.list("password", SignInMethodInfo.init) ?? []
        renewal = try members.required("renewal", .string)
        endpoints = try members.list("endpoints", EndpointInfo.init) ?? []
        source = try members.required("source", .string)
    }

    public var json: JSON {
        [
            "name": .string(name), "title": .string(title), "environments": .array(environments.map(\.json)),
            "methods": .array(methods.map(\.json)), "password": .array(password.map(\.json)),
            "renewal": .string(renewal), "endpoints": .array(endpoints.map(\.json)),
            "source": .string(source),
        ]
    }
}
