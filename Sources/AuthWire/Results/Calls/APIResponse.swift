/// The result of `api.request` and `api.call`: a response with a status of 2xx or 3xx. Anything else is an error.
public struct APIResponse: WireObject, HoldsSecrets {
    public var status = 0
    /// Names in lower case. The values of a repeated field are joined with a comma (RFC 9110 §5.3).
    public var headers: [String: String] = [:]
    /// The JSON of the response, or its text if it is plain text.
    public var body: JSON?
    /// Replaces ``body``: compact, validated JSON text that the agent does not parse into values. A client reads it as
    /// ``body``.
    public var bodyText: [UInt8]?
    /// A body that is neither.
    public var bodyBase64: String?
    /// The stream of the body (`api.read`), and its size in bytes if the provider sent it.
    public var stream: String?
    public var size: Int?
    public var fromCache = false
    /// The age of a cached response, in milliseconds.
    public var ageMs: Int?
    /// For an endpoint that answers page by page.
    public var page: PageInfo?
    /// The address of the next page, if the response names one. It goes back as ``APICall/next`` or ``APIRequest/path``; the
    /// agent sends nothing to another origin.
    public var next: String?
    /// The address of this page, if there is ``next``: pages that lead back here would never end.
    public var url: String?
    /// The outbox entry, if the request is queued and has no response yet. ``status`` is 202 then.
    public var queued: String?

    public init(blank: Blank) {}
    public init(
        status: Int, headers: [String: String] = [:], body: JSON? = nil, bodyBase64: String? = nil,
        stream: String? = nil, size: Int? = nil, fromCache: Bool = false, ageMs: Int? = nil, page: PageInfo? = nil,
        next: String? = nil, url: String? = nil, queued: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.bodyBase64 = bodyBase64
        self.stream = stream
        self.size = size
        self.fromCache = fromCache
        self.ageMs = ageMs
        self.page = page
        self.next = next
        self.url = url
        self.queued = queued
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("status", &status, .integer)
        try visitor.written("headers", &headers, .stringsByName)
        if let bodyText { body = try? JSON(parsing: bodyText) }
        try visitor.optional("body", &body, .anyOrNull)
        try visitor.optional("body_base64", &bodyBase64, .string)
        try visitor.optional("stream", &stream, .string)
        try visitor.optional("size", &size, .count)
        try visitor.written("from_cache", &fromCache, .bool)
        try visitor.optional("age_ms", &ageMs, .integer)
        try visitor.optional("page", &page, .object)
        try visitor.optional("next", &next, .string)
        try visitor.optional("url", &url, .string)
        try visitor.optional("queued", &queued, .string)
    }

    /// The text of ``json``. A ``bodyText`` is copied.
    public var rendered: [UInt8] {
        guard let bodyText else { return json.serialized() }
        var rest = self
        rest.body = nil
        rest.bodyText = nil
        var text = rest.json.serialized()
        text.removeLast()
        text.append(contentsOf: #","body":"#.utf8)
        text.append(contentsOf: bodyText)
        text.append(UInt8(ascii: "}"))
        return text
    }
}

/// Where a page has its items, and how to request the next one.
public struct PageInfo: WireObject {
    /// A JSON Pointer into the body (RFC 6901).
    public var items = ""
    /// The arguments to call the same endpoint with, over those of this call; `nil`: this was the last page.
    public var next: JSONObject?

    public init(blank: Blank) {}
    public init(items: String, next: JSONObject? = nil) {
        self.items = items
        self.next = next
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("items", &items, .string)
        try visitor.optional("next", &next, .object)
    }
}
