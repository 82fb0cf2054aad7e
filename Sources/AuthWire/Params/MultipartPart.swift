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
        switch (text, bytes) {
        case (let text?, nil): content = .text(text)
        case (nil, let bytes?): content = .base64(bytes)
        default:
            throw .invalidParams("params.multipart: expected a text or a body_base64 in each part, and not both.")
        }
    }

    public var json: JSON {
        var object: JSONObject = ["name": .string(name)]
        object["filename"] = fileName.map(JSON.string)
        object["type"] = type.map(JSON.string)
        switch content {
        case .text(let text): object["text"] = .string(text)
        case .base64(let text): object["body_base64"] = .string(text)
        }
        return .object(object)
    }
}
