/// Of `provider.forget`.
public struct ProviderForgotten: Sendable, Equatable {
    /// There was a registration, and the next sign-in makes another one.
    public var isForgotten: Bool
    /// The provider has deleted it too.
    public var isDeleted: Bool
    /// Why not, for the user.
    public var message: String?

    public init(isForgotten: Bool, isDeleted: Bool = false, message: String? = nil) {
        self.isForgotten = isForgotten
        self.isDeleted = isDeleted
        self.message = message
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        isForgotten = try members.required("forgotten", .bool)
        isDeleted = try members.required("deleted", .bool)
        message = try members.optional("message", .string)
    }

    public var json: JSON {
        var object: JSONObject = ["forgotten": .bool(isForgotten), "deleted": .bool(isDeleted)]
        object["message"] = message.map(JSON.string)
        return .object(object)
    }
}
