public struct ProviderListGet: MethodWithoutParams {
    public typealias Result = ProviderList
    public static let info = MethodInfo("provider.list", .status, "Lists the providers.")
    public init() {}
}

public struct ProviderShow: MethodWithParams {
    public typealias Result = ProviderDetail
    public static let info = MethodInfo("provider.show", .status, "Describes one provider.")
    public var params: ProviderParams
    public init(_ params: ProviderParams) { self.params = params }
}

/// `provider.check`: a profile's text, so that the agent opens no file for a client.
public struct ProviderCheckRun: AgentMethod, HoldsSecrets {
    public typealias Result = ProviderCheck
    public static let info = MethodInfo(
        "provider.check", .status, "Checks the text of a profile.", secrecy: .ownAgentOnly)

    public var text = ""
    /// The file name in the problems found.
    public var file: String?

    public init(blank: Blank) {}
    public init(text: String, file: String? = nil) {
        self.text = text
        self.file = file
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("text", &text, .string)
        try visitor.optional("file", &file, .string)
    }
}

/// `provider.try`: sends the requests of a profile without credentials, to see how a server answers them.
public struct ProviderTry: AgentMethod, HoldsSecrets {
    public typealias Result = ProviderTrial
    public static let info = MethodInfo(
        "provider.try", .act, "Tries the text of a profile at a server, without credentials.", secrecy: .ownAgentOnly)

    public var text = ""
    /// The file name in the problems found.
    public var file: String?
    /// The base URL of the server's API, or the issuer of an OAuth profile.
    public var url = ""

    public init(blank: Blank) {}
    public init(text: String, file: String? = nil, url: String) {
        self.text = text
        self.file = file
        self.url = url
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("text", &text, .string)
        try visitor.optional("file", &file, .string)
        try visitor.required("url", &url, .string)
    }
}

public struct ProviderForget: MethodWithParams {
    public typealias Result = ProviderForgotten
    public static let info = MethodInfo(
        "provider.forget", .admin, "Drops the registration of authd as a client of a provider, and deletes it there.")
    public var params: ProviderParams
    public init(_ params: ProviderParams) { self.params = params }
}
