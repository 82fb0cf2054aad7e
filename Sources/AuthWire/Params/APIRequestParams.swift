/// Of `api.request`: one call of the provider's API in the session's name.
public struct APIRequestParams: WireObject, HoldsSecrets {
    public var session: SessionName?
    public var method = ""
    /// Joined to the environment's base URL; a query may follow. A whole URL is taken if it is of the same origin.
    public var path = ""
    /// Texts, numbers, truths, and lists of them.
    public var query = JSONObject()
    public var headers: [String: String] = [:]
    /// Sent as JSON. At most one of the bodies.
    public var body: JSON?
    public var bodyBase64: String?
    public var multipart: [MultipartPart]?
    /// The body comes with `api.write`; it too counts as a body.
    public var bodyStream: BodyStream?
    /// The client's name for what is streamed, its own on this connection.
    public var stream: String?
    public var answer = AnswerMode.whole
    public var timeout: Duration?
    public var cache = CacheMode.standard
    /// Whether to try again after a failure that may pass, where the request may be repeated.
    public var retry = true
    /// Whether to wait for a network instead of failing; `nil`: as the profile says.
    public var waitsForConnectivity: Bool?
    public var queue = false

    public init(blank: Blank) {}

    public init(
        session: SessionName? = nil, method: String, path: String, query: JSONObject = [:],
        headers: [String: String] = [:], body: JSON? = nil, bodyBase64: String? = nil,
        multipart: [MultipartPart]? = nil, bodyStream: BodyStream? = nil, stream: String? = nil,
        answer: AnswerMode = .whole, timeout: Duration? = nil, cache: CacheMode = .standard, retry: Bool = true,
        waitsForConnectivity: Bool? = nil, queue: Bool = false
    ) {
        self.session = session
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.bodyBase64 = bodyBase64
        self.multipart = multipart
        self.bodyStream = bodyStream
        self.stream = stream
        self.answer = answer
        self.timeout = timeout
        self.cache = cache
        self.retry = retry
        self.waitsForConnectivity = waitsForConnectivity
        self.queue = queue
    }

    /// Whether anything of it comes or goes piece by piece.
    public var streams: Bool {
        stream != nil || answer == .stream || bodyStream != nil || (multipart ?? []).contains(where: \.isStreamed)
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.required("method", &method, .string)
        try visitor.required("path", &path, .string)
        try visitor.optional("query", &query, .object, default: [:])
        try visitor.optional("headers", &headers, .stringsByName, default: [:])
        try visitor.optional("body", &body, .any)
        try visitor.optional("body_base64", &bodyBase64, .string)
        try visitor.optional("multipart", &multipart, .list())
        try visitor.optional("body_stream", &bodyStream, .object)
        try visitor.optional("stream", &stream, .string)
        try visitor.optional("answer", &answer, .word, default: .whole)
        try visitor.optional("timeout_ms", &timeout, .milliseconds)
        try visitor.optional("cache", &cache, .word, default: .standard)
        try visitor.optional("retry", &retry, .bool, default: true)
        try visitor.optional("waits_for_connectivity", &waitsForConnectivity, .bool)
        try visitor.optional("queue", &queue, .bool, default: false)
    }

    public func validate() throws(AgentError) {
        let bodies = [body != nil, bodyBase64 != nil, multipart != nil, bodyStream != nil].filter { $0 }.count
        guard bodies <= 1 else {
            throw .invalidParams(
                "params: expected at most one of body, body_base64, multipart and body_stream, found \(bodies).")
        }
    }
}
