/// Of `agent.reload`.
public struct ReloadParams: Sendable, Equatable {
    /// Only tell what a reload would change, or what is wrong.
    public var check: Bool

    public init(check: Bool = false) {
        self.check = check
    }

    public init(_ object: JSONObject) throws(AgentError) {
        check = try Members(object, in: .params).optional("check", .bool) ?? false
    }

    public var json: JSON {
        var object = JSONObject()
        if check { object["check"] = true }
        return .object(object)
    }
}
