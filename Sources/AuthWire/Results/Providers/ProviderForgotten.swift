/// The result of `provider.forget`.
public struct ProviderForgotten: WireObject {
    /// There was a registration, and the next sign-in creates another one.
    public var isForgotten = false
    /// The provider has deleted it too.
    public var isDeleted = false
    /// Why not, for the user.
    public var message: String?

    public init(blank: Blank) {}
    public init(isForgotten: Bool, isDeleted: Bool = false, message: String? = nil) {
        self.isForgotten = isForgotten
        self.isDeleted = isDeleted
        self.message = message
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("forgotten", &isForgotten, .bool)
        try visitor.required("deleted", &isDeleted, .bool)
        try visitor.optional("message", &message, .string)
    }
}
