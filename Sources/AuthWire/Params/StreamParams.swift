/// Of `api.read` and `api.close`.
public struct StreamParams: Sendable, Equatable {
    /// The name that this connection gave it.
    public var stream: String

    public init(stream: String) {
        self.stream = stream
    }

    public init(_ object: JSONObject) throws(AgentError) {
        stream = try Members(object, in: .params).required("stream", .string)
    }

    public var json: JSON { ["stream": .string(stream)] }
}

/// Of `api.write`: one piece of a body.
public struct StreamWriteParams: Sendable, Equatable, HoldsSecrets {
    public var stream: String
    /// Where in the body the piece begins.
    public var offset: Int
    public var bytes: [UInt8]
    /// Nothing comes after it.
    public var isLast: Bool

    public init(stream: String, offset: Int, bytes: [UInt8], isLast: Bool = false) {
        self.stream = stream
        self.offset = offset
        self.bytes = bytes
        self.isLast = isLast
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        stream = try members.required("stream", .string)
        offset = try members.required("offset", .count)
        isLast = try members.optional("last", .bool) ?? false
        guard let bytes = Base64.decode(try members.optional("body_base64", .string) ?? "") else {
            throw .invalidParams("params.body_base64: expected base64 (RFC 4648 §4).")
        }
        self.bytes = bytes
    }

    public var json: JSON {
        var object: JSONObject = ["stream": .string(stream), "offset": .whole(offset)]
        object["body_base64"] = .string(Base64.encode(bytes))
        if isLast { object["last"] = true }
        return .object(object)
    }
}
