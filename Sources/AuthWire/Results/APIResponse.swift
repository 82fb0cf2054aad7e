/// Of `api.request` and `api.call`.
public struct APIResponse: Sendable, Equatable, HoldsSecrets {
    public var status: Int
    public var headers: [String: String]
    /// When the answer was JSON.
    public var body: JSON?
    /// When it was something else.
    public var bodyBase64: String?
    public var fromCache: Bool
    /// Of a cached answer, in milliseconds.
    public var ageMs: Int?

    public init(
        status: Int, headers: [String: String] = [:], body: JSON? = nil, bodyBase64: String? = nil,
        fromCache: Bool = false, ageMs: Int? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.bodyBase64 = bodyBase64
        self.fromCache = fromCache
        self.ageMs = ageMs
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        status = try members.required("status", .integer)
        headers = try members.optional("headers", .stringsByName) ?? [:]
        // Here `null` is a body of its own: the provider's JSON.
        body = members.object["body"]
        bodyBase64 = try members.optional("body_base64", .string)
        fromCache = try members.optional("from_cache", .bool) ?? false
        ageMs = try members.optional("age_ms", .integer)
    }

    public var json: JSON {
        var object: JSONObject = ["status": .whole(status), "headers": .text(headers)]
        object["body"] = body
        object["body_base64"] = bodyBase64.map(JSON.string)
        object["from_cache"] = .bool(fromCache)
        object["age_ms"] = ageMs.map { .whole($0) }
        return .object(object)
    }
}
