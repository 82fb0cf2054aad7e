/// The members of a user that most providers have.
public struct UserSummary: WireObject {
    public var id: String?
    public var email: String?
    public var name: String?
    /// Whether the provider has checked the address.
    public var verified: Bool?

    public init(blank: Blank) {}
    public init(id: String? = nil, email: String? = nil, name: String? = nil, verified: Bool? = nil) {
        self.id = id
        self.email = email
        self.name = name
        self.verified = verified
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("id", &id, .string)
        try visitor.optional("email", &email, .string)
        try visitor.optional("name", &name, .string)
        try visitor.optional("verified", &verified, .bool)
    }
}
