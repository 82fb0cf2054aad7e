/// What a person is told, with an event of ``Topic/notice``.
public struct NoticeInfo: Sendable, Equatable {
    /// `sign_in_required`, `keyring_locked` or `stale`.
    public var reason: String
    public var title: String
    public var message: String
    /// What to type, where that helps.
    public var command: String?

    public init(reason: String, title: String, message: String, command: String? = nil) {
        self.reason = reason
        self.title = title
        self.message = message
        self.command = command
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        reason = try members.required("reason", .string)
        title = try members.required("title", .string)
        message = try members.required("message", .string)
        command = try members.optional("command", .string)
    }

    public var json: JSON {
        var object: JSONObject = [
            "reason": .string(reason), "title": .string(title), "message": .string(message),
        ]
        object["command"] = command.map(JSON.string)
        return .object(object)
    }
}
