/// A base URL of a provider.
public struct EnvironmentInfo: WireObject {
    public var name = ""
    public var url = ""
    /// `default` on the wire.
    public var isDefault = false

    public init(blank: Blank) {}
    public init(name: String, url: String, isDefault: Bool = false) {
        self.name = name
        self.url = url
        self.isDefault = isDefault
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.required("url", &url, .string)
        try visitor.written("default", &isDefault, .bool)
    }
}

/// A host besides the base URL, which requests of the profile refer to by name.
public struct HostInfo: WireObject {
    public var name = ""
    public var url = ""
    /// `nil`: in all environments.
    public var environment: String?

    public init(blank: Blank) {}
    public init(name: String, url: String, environment: String? = nil) {
        self.name = name
        self.url = url
        self.environment = environment
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.required("url", &url, .string)
        try visitor.optional("environment", &environment, .string)
    }
}

/// Where requests carry an access token, if not as `Authorization: Bearer`.
public struct TokenPlaceInfo: WireObject {
    /// `header`, `query` or `cookie`.
    public var kind = ""
    public var name = ""
    /// A template with `{access_token}`.
    public var value = ""

    public init(blank: Blank) {}
    public init(kind: String, name: String, value: String) {
        self.kind = kind
        self.name = name
        self.value = value
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("kind", &kind, .string)
        try visitor.required("name", &name, .string)
        try visitor.required("value", &value, .string)
    }
}

/// A sign-in method and the fields that it asks for.
public struct SignInMethodInfo: WireObject {
    public var name = ""
    public var label = ""
    public var fields: [StepField] = []
    /// `key`: the answers are the access token. `nil`: they are sent to the provider, which returns one.
    public var kind: String?

    /// Fields that the provider may ask for later, such as the code of a second factor.
    public var later: [StepField]?

    /// The ``kind`` of a key.
    public static let key = "key"

    public init(blank: Blank) {}
    public init(
        name: String, label: String, fields: [StepField] = [], kind: String? = nil, later: [StepField]? = nil
    ) {
        self.name = name
        self.label = label
        self.fields = fields
        self.kind = kind
        self.later = later
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.required("label", &label, .string)
        try visitor.written("fields", &fields, .list())
        try visitor.optional("kind", &kind, .string)
        try visitor.optional("later", &later, .list())
    }
}

/// The result of `provider.show`: a profile without its secrets.
public struct ProviderDetail: WireObject {
    public var name = ""
    public var title = ""
    public var environments: [EnvironmentInfo] = []
    /// `nil`: there are none.
    public var hosts: [HostInfo]?
    public var methods: [SignInMethodInfo] = []
    /// The password methods: `set`, `change`, `request_reset`, `reset`.
    public var password: [SignInMethodInfo] = []
    /// What renews a session: `refresh`, `validate`, `sign-in` or `none`.
    public var renewal = ""
    public var endpoints: [EndpointInfo] = []
    /// "bundled", or the path of the profile.
    public var source = ""
    /// `nil`: `Authorization: Bearer`, or `DPoP` with a proof.
    public var tokenPlace: TokenPlaceInfo?

    public init(blank: Blank) {}
    public init(
        name: String, title: String, environments: [EnvironmentInfo] = [], hosts: [HostInfo]? = nil,
        methods: [SignInMethodInfo] = [], password: [SignInMethodInfo] = [], renewal: String,
        endpoints: [EndpointInfo] = [], source: String, tokenPlace: TokenPlaceInfo? = nil
    ) {
        self.name = name
        self.title = title
        self.environments = environments
        self.hosts = hosts
        self.methods = methods
        self.password = password
        self.renewal = renewal
        self.endpoints = endpoints
        self.source = source
        self.tokenPlace = tokenPlace
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.required("title", &title, .string)
        try visitor.written("environments", &environments, .list())
        try visitor.optional("hosts", &hosts, .list())
        try visitor.written("methods", &methods, .list())
        try visitor.written("password", &password, .list())
        try visitor.required("renewal", &renewal, .string)
        try visitor.written("endpoints", &endpoints, .list())
        try visitor.required("source", &source, .string)
        try visitor.optional("token_place", &tokenPlace, .object)
    }
}
