/// Of `api.call`: an endpoint by the profile's own name for it.
public struct APICallParams: WireObject, HoldsSecrets {
    public var session: SessionName?
    public var endpoint = ""
    /// By the endpoint's own names for them. A file's content is an object with a `body_base64`, or with
    /// a `body_stream` (``BodyStream``) for one of them.
    public var args = JSONObject()
    /// The whole body, in place of the one that the endpoint makes of its arguments.
    public var body: JSON?
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

    /// Whether anything of it comes or goes piece by piece.
    public var streams: Bool {
        stream != nil || answer == .stream || args.contains { $0.value["body_stream"] != nil }
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.required("endpoint", &endpoint, .string)
        try visitor.optional("args", &args, .object, default: [:])
        try visitor.optional("body", &body, .any)
        try visitor.optional("stream", &stream, .string)
        try visitor.optional("answer", &answer, .word, default: .whole)
        try visitor.optional("timeout_ms", &timeout, .milliseconds)
        try visitor.optional("cache", &cache, .word, default: .standard)
        try visitor.optional("retry", &retry, .bool, default: true)
        try visitor.optional("waits_for_connectivity", &waitsForConnectivity, .bool)
        try visitor.optional("queue", &queue, .bool, default: false)
    }
}
