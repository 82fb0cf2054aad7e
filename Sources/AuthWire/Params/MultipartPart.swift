/// One part of a `multipart/form-data` body (RFC 7578).
public struct MultipartPart: Sendable, Equatable, HoldsSecrets {
    public var name: String
    public var fileName: String?
    /// A media type; `nil`: none is sent for a text, `application/octet-stream` for bytes.
    public var type: String?
    public var content: Content

    public enum Content: Sendable, Equatable {
        case text(String)
        case base64(String)
        case stream(BodyStream)
    }

    public init(name: String, fileName: String? = nil, type: String? = nil, content: Content) {
        self.name = name
        self.fileName = fileName
        self.type = type
        self.content = content
    }

    public init(_ json: JSON) throws(AgentError) {
        guard case .object(let object) = json else {
            throw .invalidParams("params.multipart: expected an array of objects, one a part.")
        }
        let members = Members(object, in: .params)
        name = try members.required("name", .string)
        fileName = try members.optional("filename", .string)
        type = try members.optional("type", .string)
        let text = try members.optional("text", .string)
        let bytes = try members.optional("body_base64", .string)
        let stream = try members.nested("body_stream", BodyStream.init)
        switch (text, bytes, stream) {
        case (let text?, nil, nil): content = .text(text)
        case (nil, let bytes?, nil): content = .base64(bytes)
        case (nil, nil, let stream?): content = .stream(stream)
        default:
            throw .invalidParams("params.multipart: expected one of text, body_base64 and body_stream in each part.")
        }
    }

    var isStreamed: Bool {
        if case .stream = content { true } else { false }
    }

    public var json: JSON {
        var object: JSONObject = ["name": .string(name)]
        object["filename"] = fileName.map(JSON.string)
        object["type"] = type.map(JSON.string)
        switch content {
        case .text(let text): object["text"] = .string(text)
        case .base64(let text): object["body_base64"] = .string(text)
        case .stream(let stream): object["body_stream"] = stream.json
        }
        return .object(object)
    }
}
