import AuthWire

/// One call as it was asked for, settled before anything is sent; only the token is missing.
struct APIOrder: Sendable {
    /// In place of the body that the template makes.
    struct Content: Sendable {
        let bytes: Secret
        let type: String
    }

    let profile: ProviderProfile
    let environment: ProviderEnvironment
    /// Without its bearer.
    var template: RequestTemplate
    /// In place of the template's path and query.
    var url: String?
    var content: Content?
    var bearer = true
    /// By name, what the template's places are filled with besides what the session knows.
    var given = JSONObject()
    var endpoint: Endpoint?

    var cache = CacheMode.standard
    var retry = true
    var waits = false
    var timeout: Duration?

    /// - Throws: ``ErrorKind/validation`` where a value cannot stand in its place.
    func build(_ record: SessionRecord) throws(AgentError) -> HTTPRequest {
        var values = TemplateValues(record)
        for argument in endpoint?.arguments ?? [] {
            if let value = given[argument.name] {
                values.put(argument.name, value)
            } else if let text = argument.fallback?.fill(TemplateValues(record)) {
                values.put(argument.name, .string(text))
            }
        }
        var request = try RequestBuilder(profile: profile, environment: environment, values: values).build(template)
        if let url { request.url = url }
        if let content {
            request.body = content.bytes
            if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                request.headers.append(HTTPField("Content-Type", content.type))
            }
        }
        return request
    }

    /// Whether a page for people is what was asked for.
    var takesPages: Bool {
        template.headers.contains { header in
            header.name.lowercased() == "accept" && header.value.literals.contains { $0.contains("html") }
        }
    }

    var mayRepeat: Bool {
        retry && RetryPlan.mayRepeat(method: template.method, headers: template.headers.map(\.name))
    }

    /// Whether the answer may come from, and go to, what is kept.
    var isRead: Bool { template.method == "GET" }

    /// The profile's word on how long an answer is fresh.
    var freshFor: Duration? { endpoint?.cache ?? profile.api.cache }
}
