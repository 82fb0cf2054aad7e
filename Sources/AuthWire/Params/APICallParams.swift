/// Of `api.call`: an endpoint by the profile's own name for it.
public struct APICallParams: Sendable, Equatable, HoldsSecrets {
    public var session: SessionName?
    public var endpoint: String
    /// By the endpoint's own names for them. A file's content is an object with a `body_base64`, or with
    /// a `body_stream` (``BodyStream``) for one of them.
    public var args: JSONObject
    /// The whole body, in place of the one that the endpoint makes of its arguments.
    public var body: JSON?
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
        session: SessionName? = nil, endpoint: String, args: JSONObject = [:], body: JSON? = nil,
        stream: String? = nil, answer: AnswerMode = .whole, timeout: Duration? = nil, cache: CacheMode = .standard,
        retry: Bool = true, waitsForConnectivity: Bool? = nil, queue: Bool = false
    ) {
        self.session = session
        self.endpoint = endpoint
        self.args = args
        self.body = body
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
        endpoint = try members.required("endpoint", .string)
        args = try members.optional("args", .object) ?? [:]
        body = try members.optional("body", .any)
        stream = try members.optional("stream", .string)
        answer = try members.optional("answer", .word) ?? .whole
        timeout = try members.optional("timeout_ms", .milliseconds)
        cache = try members.optional("cache", .word) ?? .standard
        retry = try members.optional("retry", .bool) ?? true
        waitsForConnectivity = try members.optional("waits_for_connectivity", .bool)
        queue = try members.optional("queue", .bool) ?? false
    }

    /// Whether anything of it comes or goes piece by piece.
    public var streams: Bool {
        stream != nil || answer == .stream || args.contains { $0.value["body_stream"] != nil }
    }

    public var json: JSON {
        var object = JSONObject()
        object["session"] = session.map { .string($0.text) }
        object["endpoint"] = .string(endpoint)
        if !args.isEmpty { object["args"] = .object(args) }
        object["body"] = body
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
