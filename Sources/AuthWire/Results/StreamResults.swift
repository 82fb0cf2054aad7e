/// Of `api.write`.
public struct StreamTaken: Sendable, Equatable {
    /// Where the next piece begins: behind this one, or at 0 when the body is wanted again.
    public var next: Int
    /// No more is wanted: the answer to the call is there, or comes.
    public var done: Bool

    public init(next: Int, done: Bool = false) {
        self.next = next
        self.done = done
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        next = try members.required("next", .count)
        done = try members.optional("done", .bool) ?? false
    }

    public var json: JSON {
        var object: JSONObject = ["next": .whole(next)]
        if done { object["done"] = true }
        return .object(object)
    }
}

/// Of `api.read`: the next piece of an answer.
public struct StreamPiece: Sendable, Equatable, HoldsSecrets {
    public var bytes: [UInt8]
    /// Nothing comes after it, and the stream has ended.
    public var isLast: Bool

    public init(bytes: [UInt8], isLast: Bool) {
        self.bytes = bytes
        self.isLast = isLast
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        guard let bytes = Base64.decode(try members.required("body_base64", .string)) else {
            throw members.problem("body_base64", "base64", found: "something else")
        }
        self.bytes = bytes
        isLast = try members.required("last", .bool)
    }

    public var json: JSON { ["body_base64": .string(Base64.encode(bytes)), "last": .bool(isLast)] }
}
