/// `provider.list`.
public struct ProviderListGet: MethodWithoutParams {
    public typealias Result = ProviderList
    public static let name = "provider.list"
    public static let summary = "Lists the providers."
    public static let access = AccessClass.status

    public init() {}
}

/// `provider.show`.
public struct ProviderShow: MethodWithParams {
    public typealias Result = ProviderDetail
    public static let name = "provider.show"
    public static let summary = "Describes one provider."
    public static let access = AccessClass.status

    public var params: ProviderParams
    public init(_ params: ProviderParams) { self.params = params }
}

/// `provider.check`: a profile's text, so that the agent opens no file for a client.
public struct ProviderCheckRun: AgentMethod, HoldsSecrets {
    public typealias Result = ProviderCheck
    public static let name = "provider.check"
    public static let summary = "Checks the text of a profile."
    public static let access = AccessClass.status
    public static let secrecy = Secrecy.ownAgentOnly

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

/// `provider.forget`.
public struct ProviderForget: MethodWithParams {
    public typealias Result = ProviderForgotten
    public static let name = "provider.forget"
    public static let summary = "Drops the registration of authd as a client of a provider, and deletes it there."
    public static let access = AccessClass.admin

    public var params: ProviderParams
    public init(_ params: ProviderParams) { self.params = params }
}
