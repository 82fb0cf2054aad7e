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

public struct ProviderForget: MethodWithParams {
    public typealias Result = ProviderForgotten
    public static let info = MethodInfo(
        "provider.forget", .admin, "Drops the registration of authd as a client of a provider, and deletes it there.")
    public var params: ProviderParams
    public init(_ params: ProviderParams) { self.params = params }
}
