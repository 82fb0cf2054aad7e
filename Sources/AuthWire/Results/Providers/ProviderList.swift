/// One line about a provider.
public struct ProviderSummary: WireObject {
    public var name = ""
    public var title = ""
    public var environments: [String] = []
    public var methods: [String] = []
    /// "bundled", or the path of the profile.
    public var source = ""

    public init(blank: Blank) {}
    public init(name: String, title: String, environments: [String] = [], methods: [String] = [], source: String) {
        self.name = name
        self.title = title
        self.environments = environments
        self.methods = methods
        self.source = source
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.required("title", &title, .string)
        try visitor.written("environments", &environments, .strings)
        try visitor.written("methods", &methods, .strings)
        try visitor.required("source", &source, .string)
    }
}

/// The result of `provider.list`.
public struct ProviderList: WireObject {
    public var providers: [ProviderSummary] = []

    public init(blank: Blank) {}
    public init(providers: [ProviderSummary]) { self.providers = providers }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.written("providers", &providers, .list())
    }
}
