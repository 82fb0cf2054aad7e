/// Of methods that have nothing to tell but words for a person, if those.
public struct MessageResult: WireObject {
    public var message: String?

    /// Of a reload that finds all as it is.
    public static let unchanged = "Nothing has changed."

    public init(blank: Blank) {}

    public init(message: String? = nil) {
        self.message = message
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("message", &message, .string)
    }
}
