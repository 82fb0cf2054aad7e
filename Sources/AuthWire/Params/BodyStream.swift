/// In the place of a `body_base64`: the content comes piece by piece, with `api.write`.
public struct BodyStream: Sendable, Equatable {
    /// In bytes; `nil`: not known before its end.
    public var size: Int?
    /// The client can read it only once: what would need it a second time fails instead.
    public var once: Bool

    public init(size: Int? = nil, once: Bool = false) {
        self.size = size
        self.once = once
    }

    public init(_ json: JSON) throws(AgentError) {
        guard case .object(let object) = json else {
            throw .invalidParams("params.body_stream: expected an object, found \(json.kindInWords).")
        }
        let members = Members(object, in: .params)
        size = try members.optional("size", .count)
        once = try members.optional("once", .bool) ?? false
    }

    public var json: JSON {
        var object = JSONObject()
        object["size"] = size.map { .whole($0) }
        if once { object["once"] = true }
        return .object(object)
    }
}

/// Whether the answer comes with the result, or piece by piece with `api.read`.
public enum AnswerMode: String, Sendable, CaseIterable {
    case whole
    case stream
}
