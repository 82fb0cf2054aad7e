/// Of `api.request` and `api.call`: an answer of 2xx or 3xx. Anything else is an error.
public struct APIResponse: Sendable, Equatable, HoldsSecrets {
    public var status: Int
    /// Names in lower case; the values of a field that came twice are joined by a comma (RFC 9110 §5.3).
    public var headers: [String: String]
    /// The JSON of the answer, or its text where it was a plain one.
    public var body: JSON?
    /// In place of ``body``, compact and checked: JSON that nobody on this side looks into. A reader has it in ``body``.
    public var bodyText: [UInt8]?
    /// When it was something else.
    public var bodyBase64: String?
    /// The stream that the body comes by (`api.read`), and its size in bytes where the provider told it.
    public var stream: String?
    public var size: Int?
    public var fromCache: Bool
    /// Of a cached answer, in milliseconds.
    public var ageMs: Int?
    /// Of an endpoint that answers page by page.
    public var page: PageInfo?
    /// The outbox's entry where nothing was answered yet, and it waits to be sent; ``status`` is 202 then.
    public var queued: String?

    public init(
        status: Int, headers: [String: String] = [:], body: JSON? = nil, bodyBase64: String? = nil,
        stream: String? = nil, size: Int? = nil, fromCache: Bool = false, ageMs: Int? = nil, page: PageInfo? = nil,
        queued: String? = nil
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
        self.queued = queued
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        status = try members.required("status", .integer)
        headers = try members.optional("headers", .stringsByName) ?? [:]
        // Here `null` is a body of its own: the provider's JSON.
        body = members.object["body"]
        bodyBase64 = try members.optional("body_base64", .string)
        stream = try members.optional("stream", .string)
        size = try members.optional("size", .count)
        fromCache = try members.optional("from_cache", .bool) ?? false
        ageMs = try members.optional("age_ms", .integer)
        page = try members.nested("page", PageInfo.init)
        queued = try members.optional("queued", .string)
    }

    public var json: JSON {
        var response = self
        if let bodyText { response.body = try? JSON(parsing: bodyText) }
        return response.valueJSON
    }

    /// As the text of ``json``; a ``bodyText`` is copied.
    public var rendered: [UInt8] {
        guard let bodyText else { return json.serialized() }
        var text = valueJSON.serialized()
        text.removeLast()
        text.append(contentsOf: #","body":"#.utf8)
        text.append(contentsOf: bodyText)
        text.append(UInt8(ascii: "}"))
        return text
    }

    private var valueJSON: JSON {
        var object: JSONObject = ["status": .whole(status), "headers": .text(headers)]
        object["body"] = body
        object["body_base64"] = bodyBase64.map(JSON.string)
        object["stream"] = stream.map(JSON.string)
        object["size"] = size.map { .whole($0) }
        object["from_cache"] = .bool(fromCache)
        object["age_ms"] = ageMs.map { .whole($0) }
        object["page"] = page?.json
        object["queued"] = queued.map(JSON.string)
        return .object(object)
    }
}

/// Where one page keeps its items, and how to ask for the next one.
public struct PageInfo: Sendable, Equatable {
    /// A JSON Pointer into the body (RFC 6901).
    public var items: String
    /// The arguments to call the same endpoint with, over those of this call; `nil`: this was the last page.
    public var next: JSONObject?

    public init(items: String, next: JSONObject? = nil) {
        self.items = items
        self.next = next
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        items = try members.required("items", .string)
        next = try members.optional("next", .object)
    }

    public var json: JSON {
        var object: JSONObject = ["items": .string(items)]
        object["next"] = next.map(JSON.object)
        return .object(object)
    }
}
