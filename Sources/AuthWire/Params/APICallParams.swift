/// Of `api.call`: an endpoint by the profile's own name for it.
public struct APICallParams: Sendable, Equatable, HoldsSecrets {
    public var session: SessionName?
    public var endpoint: String
    public var args: JSONObject?
    public var body: JSON?
    public var timeout: Duration?
    public var cache: String?
    public var queue: Bool?

    public init(
        session: SessionName? = nil, endpoint: String, args: JSONObject? = nil, body: JSON? = nil,
        timeout: Duration? = nil, cache: String? = nil, queue: Bool? = nil
    ) {
        self.session = session
        self.endpoint = endpoint
        self.args = args
        self.body = body
        self.timeout = timeout
        self.cache = cache
        self.queue = queue
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        endpoint = try members.required("endpoint", .string)
        args = try members.optional("args", .object)
        body = try members.optional("body", .any)
        timeout = try members.optional("timeout_ms", .milliseconds)
        cache = try members.optional("cache", .string)
        queue = try members.optional("queue", .bool)
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["endpoint"] = .string(endpoint)
        object["args"] = args.map(JSON.object)
        object["body"] = body
        object["timeout_ms"] = timeout.map(JSON.milliseconds)
        object["cache"] = cache.map(JSON.string)
        object["queue"] = queue.map(JSON.bool)
        return .object(object)
    }
}
