/// The params of `provider.show` and `provider.forget`.
public struct ProviderParams: WireObject {
    public var provider = ""

    public init(blank: Blank) {}
    public init(provider: String) { self.provider = provider }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("provider", &provider, .string)
    }
}
