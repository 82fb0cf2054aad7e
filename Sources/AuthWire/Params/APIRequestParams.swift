/// Of `api.request`: one call of the provider's API in the session's name.
public struct APIRequestParams: Sendable, Equatable, HoldsSecrets {
    public var session: SessionName?
    public var method: String
    /// Joined to the environment's base URL; a query may follow. A whole URL is taken if it is of the same origin.
    public var path: String
    /// Texts, numbers, truths, and lists of them.
    public var query: JSONObject
    public var headers: [String: String]
    /// Sent as JSON. At most one of the bodies.
    public var body: JSON?
    public var bodyBase64: String?
    public var multipart: [MultipartPart]?
    /// The body comes with `api.write`; it too counts as a body.
    public var bodyStream: BodyStream?
    /// The client's name for what is streamed, its own on this connection.
    public var stream: String?
    public var answer: AnswerMode
    public var timeout: Duration?
    public var cache: CacheMode
    /// Whether to try again after a failure that may pass, where the request may be repeated.
    public var retry: Bool
    /// Whether to wait for a network instead of failing; `nil`: as the profile says.
    public var waitsForConnectivity: Bool?
    public var queue: Bool

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

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        method = try members.required("method", .string)
        path = try members.required("path", .string)
        query = try members.optional("query", .object) ?? [:]
        headers = try members.optional("headers", .stringsByName) ?? [:]
        body = try members.optional("body", .any)
        bodyBase64 = try members.optional("body_base64", .string)
        multipart = try members.list("multipart", MultipartPart.init)
        bodyStream = try members.nested("body_stream", BodyStream.init)
        stream = try members.optional("stream", .string)
        answer = try members.optional("answer", .word) ?? .whole
        timeout = try members.optional("timeout_ms", .milliseconds)
        cache = try members.optional("cache", .word) ?? .standard
        retry = try members.optional("retry", .bool) ?? true
        waitsForConnectivity = try members.optional("waits_for_connectivity", .bool)
        queue = try members.optional("queue", .bool) ?? false
        let bodies = [body != nil, bodyBase64 != nil, multipart != nil, bodyStream != nil].filter { $0 }.count
        guard bodies <= 1 else {
            throw .invalidParams(
                "params: expected at most one of body, body_base64, multipart and body_stream, found \(bodies).")
        }
    }

    /// Whether anything of it comes or goes piece by piece.
    public var streams: Bool {
        stream != nil || answer == .stream || bodyStream != nil || (multipart ?? []).contains(where: \.isStreamed)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["method"] = .string(method)
        object["path"] = .string(path)
        if !query.isEmpty { object["query"] = .object(query) }
        if !headers.isEmpty { object["headers"] = .text(headers) }
        object["body"] = body
        object["body_base64"] = bodyBase64.map(JSON.string)
        object["multipart"] = multipart.map { .array($0.map(\.json)) }
        object["body_stream"] = bodyStream?.json
        object["stream"] = stream.map(JSON.string)
        if answer != .whole { object["answer"] = .string(answer.rawValue) }
        object["timeout_ms"] = timeout.map(JSON.milliseconds)
        if cache != .standard { object["cache"] = .string(cache.rawValue) }
        if !retry { object["retry"] = false }
        object["waits_for_connectivity"] = waitsForConnectivity.map(JSON.bool)
        if queue { object["queue"] = true }
        return .object(object)
    }
}
