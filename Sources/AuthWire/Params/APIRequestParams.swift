/// Of `api.request`: one call of the provider's API in the session's name.
public struct APIRequestParams: Sendable, Equatable, HoldsSecrets {
    public var session: SessionName?
    public var method: String
    /// Joined to the environment's base URL.
    public var path: String
    public var query: JSONObject?
    public var headers: [String: String]
    /// Sent as JSON. At most one of the three bodies.
    public var body: JSON?
    public var bodyBase64: String?
    public var multipart: JSON?
    public var timeout: Duration?
    public var cache: String?
    public var retry: Bool?
    public var queue: Bool?

    public init(
        session: SessionName? = nil, method: String, path: String, query: JSONObject? = nil,
        headers: [String: String] = [:], body: JSON? = nil, bodyBase64: String? = nil, multipart: JSON? = nil,
        timeout: Duration? = nil, cache: String? = nil, retry: Bool? = nil, queue: Bool? = nil
    ) {
        self.session = session
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.bodyBase64 = bodyBase64
        self.multipart = multipart
        self.timeout = timeout
        self.cache = cache
        self.retry = retry
        self.queue = queue
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        method = try members.required("method", .string)
        path = try members.required("path", .string)
        query = try members.optional("query", .object)
        headers = try members.optional("headers", .stringsByName) ?? [:]
        body = try members.optional("body", .any)
        bodyBase64 = try members.optional("body_base64", .string)
        multipart = try members.optional("multipart", .any)
        timeout = try members.optional("timeout_ms", .milliseconds)
        cache = try members.optional("cache", .string)
        retry = try members.optional("retry", .bool)
        queue = try members.optional("queue", .bool)
        let bodies = (body == nil ? 0 : 1) + (bodyBase64 == nil ? 0 : 1) + (multipart == nil ? 0 : 1)
        guard bodies <= 1 else {
            throw .invalidParams("params: expected at most one of body, body_base64 and multipart, found \(bodies).")
        }
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["method"] = .string(method)
        object["path"] = .string(path)
        object["query"] = query.map(JSON.object)
        if !headers.isEmpty { object["headers"] = .text(headers) }
        object["body"] = body
        object["body_base64"] = bodyBase64.map(JSON.string)
        object["multipart"] = multipart
        object["timeout_ms"] = timeout.map(JSON.milliseconds)
        object["cache"] = cache.map(JSON.string)
        object["retry"] = retry.map(JSON.bool)
        object["queue"] = queue.map(JSON.bool)
        return .object(object)
    }
}
