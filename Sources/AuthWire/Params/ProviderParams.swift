/// Of `provider.show`.
public struct ProviderParams: WireObject {
    public var provider = ""

    public init(blank: Blank) {}

    public init(provider: String) {
        self.provider = provider
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("provider", &provider, .string)
    }
}

/// Of `provider.check`: a profile's text, so that the agent opens no file for a client.
public struct ProviderCheckParams: WireObject, HoldsSecrets {
    public var text = ""
    /// What the problems found name as the file.
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
