/// Of `agent.reload`.
public struct ReloadParams: WireObject {
    /// Only tell what a reload would change, or what is wrong.
    public var check = false

    public init(blank: Blank) {}

    public init(check: Bool = false) {
        self.check = check
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("check", &check, .bool, default: false)
    }
}
