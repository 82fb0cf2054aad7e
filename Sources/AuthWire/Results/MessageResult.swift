/// The result of methods that have at most a message for the user.
public struct MessageResult: WireObject {
    public var message: String?

    public init(blank: Blank) {}
    public init(message: String? = nil) { self.message = message }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("message", &message, .string)
    }
}
