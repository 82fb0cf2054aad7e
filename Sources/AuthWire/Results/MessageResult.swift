/// Of methods that have nothing to tell but words for a person, if those.
public struct MessageResult: Sendable, Equatable {
    public var message: String?

    /// Of a reload that finds all as it is.
    public static let unchanged = "Nothing has changed."

    public init(message: String? = nil) {
        self.message = message
    }

    public init(_ json: JSON) throws(AgentError) {
        message = try Members(result: json).optional("message", .string)
    }

    public var json: JSON {
        var object = JSONObject()
        object["message"] = message.map(JSON.string)
        return .object(object)
    }
}
