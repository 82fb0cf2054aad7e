/// The part of a user that every provider has, where it tells it.
public struct UserSummary: Sendable, Equatable {
    public var id: String?
    public var email: String?
    public var name: String?
    /// Whether the provider has checked the address.
    public var verified: Bool?

    public init(id: String? = nil, email: String? = nil, name: String? = nil, verified: Bool? = nil) {
        self.id = id
        self.email = email
        self.name = name
        self.verified = verified
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        id = try members.optional("id", .string)
        email = try members.optional("email", .string)
        name = try members.optional("name", .string)
        verified = try members.optional("verified", .bool)
    }

    public var json: JSON {
        var object = JSONObject()
        object["id"] = id.map(JSON.string)
        object["email"] = email.map(JSON.string)
        object["name"] = name.map(JSON.string)
        object["verified"] = verified.map(JSON.bool)
        return .object(object)
    }
}
