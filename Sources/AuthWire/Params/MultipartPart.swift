/// One part of a `multipart/form-data` body (RFC 7578).
public struct MultipartPart: WireObject, HoldsSecrets {
    public var name = ""
    public var fileName: String?
    /// A media type; `nil`: none is sent for a text, `application/octet-stream` for bytes.
    public var type: String?
    private var text: String?
    private var base64: String?
    private var stream: BodyStream?

    public enum Content: Sendable, Equatable {
        case text(String)
        case base64(String)
        case stream(BodyStream)
    }

    public init(blank: Blank) {}
    public init(name: String, fileName: String? = nil, type: String? = nil, content: Content) {
        self.name = name
        self.fileName = fileName
        self.type = type
        self.content = content
    }

    public var content: Content {
        get {
            if let base64 { return .base64(base64) }
            if let stream { return .stream(stream) }
            return .text(text ?? "")
        }
        set {
            (text, base64, stream) = (nil, nil, nil)
            switch newValue {
            case .text(let content): text = content
            case .base64(let content): base64 = content
            case .stream(let content): stream = content
            }
        }
    }

    var isStreamed: Bool { stream != nil }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.optional("filename", &fileName, .string)
        try visitor.optional("type", &type, .string)
        try visitor.optional("text", &text, .string)
        try visitor.optional("body_base64", &base64, .string)
        try visitor.optional("body_stream", &stream, .object)
    }

    public func validate() throws(AgentError) {
        guard [text != nil, base64 != nil, stream != nil].filter({ $0 }).count == 1 else {
            throw .invalidParams("params.multipart: expected one of text, body_base64 and body_stream in each part.")
        }
    }
}
