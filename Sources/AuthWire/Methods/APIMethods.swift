/// `api.request`: a request to the provider's API with the session's token.
public struct APIRequest: AgentMethod, HoldsSecrets {
    public typealias Result = APIResponse
    public static let info = MethodInfo(
        "api.request", .act, "Sends a request to the provider with the session's token.", secrecy: .guarded)

    public var session: SessionName?
    public var method = ""
    /// Appended to the environment's base URL; a query may follow. A whole URL must have the same origin.
    public var path = ""
    /// Strings, numbers, booleans, and lists of them.
    public var query = JSONObject()
    public var headers: [String: String] = [:]
    /// Sent as JSON. At most one of the bodies.
    public var body: JSON?
    public var bodyBase64: String?
    public var multipart: [MultipartPart]?
    /// The body is sent with `api.write`.
    public var bodyStream: BodyStream?
    /// The client's name for the stream, unique on this connection.
    public var stream: String?
    public var answer = ResponseMode.whole
    public var timeout: Duration?
    public var cache = CacheMode.standard
    /// Whether to try again after a temporary failure, if the request may be repeated.
    public var retry = true
    /// Whether to wait for a network instead of failing; `nil`: as the profile says.
    public var waitsForConnectivity: Bool?
    public var queue = false

    public init(blank: Blank) {}
    public init(
        session: SessionName? = nil, method: String, path: String, query: JSONObject = [:],
        headers: [String: String] = [:], body: JSON? = nil, bodyBase64: String? = nil,
        multipart: [MultipartPart]? = nil, bodyStream: BodyStream? = nil, stream: String? = nil,
        answer: ResponseMode = .whole, timeout: Duration? = nil, cache: CacheMode = .standard, retry: Bool = true,
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

    /// Whether a body or the response is streamed.
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

/// `api.call`: an endpoint by its name in the profile.
public struct APICall: AgentMethod, HoldsSecrets {
    public typealias Result = APIResponse
    public static let info = MethodInfo("api.call", .act, "Calls an endpoint of the profile.", secrecy: .guarded)

    public var session: SessionName?
    public var endpoint = ""
    /// By name. A file's content is an object with a `body_base64`, or for one of them with a `body_stream` (``BodyStream``).
    public var args = JSONObject()
    /// ``APIResponse/next`` of the page before, for a GET: it replaces the address that is built from the arguments.
    public var next: String?
    /// Replaces the body that is built from the arguments.
    public var body: JSON?
    /// The client's name for the stream, unique on this connection.
    public var stream: String?
    public var answer = ResponseMode.whole
    public var timeout: Duration?
    public var cache = CacheMode.standard
    /// Whether to try again after a temporary failure, if the request may be repeated.
    public var retry = true
    /// Whether to wait for a network instead of failing; `nil`: as the profile says.
    public var waitsForConnectivity: Bool?
    public var queue = false

    public init(blank: Blank) {}
    public init(
        session: SessionName? = nil, endpoint: String, args: JSONObject = [:], next: String? = nil, body: JSON? = nil,
        stream: String? = nil, answer: ResponseMode = .whole, timeout: Duration? = nil, cache: CacheMode = .standard,
        retry: Bool = true, waitsForConnectivity: Bool? = nil, queue: Bool = false
    ) {
        self.session = session
        self.endpoint = endpoint
        self.args = args
        self.next = next
        self.body = body
        self.stream = stream
        self.answer = answer
        self.timeout = timeout
        self.cache = cache
        self.retry = retry
        self.waitsForConnectivity = waitsForConnectivity
        self.queue = queue
    }

    /// Whether a body or the response is streamed.
    public var streams: Bool {
        stream != nil || answer == .stream || args.contains { $0.value["body_stream"] != nil }
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.required("endpoint", &endpoint, .string)
        try visitor.optional("args", &args, .object, default: [:])
        try visitor.optional("next", &next, .string)
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

/// `api.write`: one piece of a body, or a socket for what follows.
public struct APIWrite: AgentMethod, HoldsSecrets {
    public typealias Result = StreamTaken
    public static let info = MethodInfo(
        "api.write", .act, "Sends a piece of a streamed body. Answered when the piece is accepted.", secrecy: .guarded)

    public var stream = ""
    /// Where in the body the piece begins.
    public var offset = 0
    public var bytes: [UInt8] = []
    /// Nothing comes after it.
    public var isLast = false
    /// Instead of bytes: the response comes with a descriptor of a socket (SCM_RIGHTS, unix(7)) for the bytes from the
    /// offset on.
    public var requestsSocket = false

    public init(blank: Blank) {}
    public init(stream: String, offset: Int, bytes: [UInt8], isLast: Bool = false) {
        self.stream = stream
        self.offset = offset
        self.bytes = bytes
        self.isLast = isLast
    }

    package init(socketFor stream: String, offset: Int) {
        self.stream = stream
        self.offset = offset
        requestsSocket = true
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("stream", &stream, .string)
        try visitor.required("offset", &offset, .count)
        try visitor.written("body_base64", &bytes, .base64)
        try visitor.optional("last", &isLast, .bool, default: false)
        try visitor.optional("socket", &requestsSocket, .bool, default: false)
    }

    public func validate() throws(AgentError) {
        guard !requestsSocket || (bytes.isEmpty && !isLast) else {
            throw .invalidParams("params.socket: expected neither body_base64 nor last with it.")
        }
    }
}

/// `api.read`: the next piece of a response, or a socket for what follows.
public struct APIRead: AgentMethod {
    public typealias Result = StreamPiece
    public static let info = MethodInfo("api.read", .act, "The next piece of a streamed response.", secrecy: .guarded)

    public var stream = ""
    /// Instead of bytes: the response comes with a descriptor of a socket (SCM_RIGHTS, unix(7)), from which the rest is
    /// read.
    public var requestsSocket = false

    public init(blank: Blank) {}
    public init(stream: String) { self.stream = stream }

    package init(socketFor stream: String) {
        self.stream = stream
        requestsSocket = true
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("stream", &stream, .string)
        try visitor.optional("socket", &requestsSocket, .bool, default: false)
    }
}

public struct APIClose: MethodWithParams {
    public typealias Result = Nothing
    public static let info = MethodInfo("api.close", .act, "Ends a stream early.")
    public var params: StreamParams
    public init(_ params: StreamParams) { self.params = params }
}
