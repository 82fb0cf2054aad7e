package import AuthWire

/// Prepares a call from a caller's request.
extension PreparedCall {
    /// Bytes of a path or URL: servers accept 8 KiB or less.
    private static let longestPath = 8 << 10

    /// A request with the caller's own path.
    package init(
        _ params: APIRequest, profile: ProviderProfile, environment: ProviderEnvironment, boundary: String
    ) throws(AgentError) {
        guard HeaderRules.isName(params.method), !["CONNECT", "TRACE"].contains(params.method) else {
            throw AgentError(.validation, "'\(params.method.prefix(16))' is not an allowed method.", cause: "method")
        }
        try HeaderRules.check(params.headers)
        let target = try Self.target(params.path, query: params.query, base: environment.baseURL)
        let headers = params.headers.sorted { $0.key < $1.key }
            .map { TemplateField(name: $0.key, value: Template(literal: $0.value)) }
        self.init(
            profile: profile, environment: environment, boundary: boundary,
            template: RequestTemplate(
                method: params.method, path: Template(literal: ""), headers: headers,
                body: params.body.map { .json(.literal($0)) }),
            url: target.url, cache: params.cache, retry: params.retry,
            waits: params.waitsForConnectivity ?? profile.api.waitsForConnectivity, timeout: params.timeout)
        content = try Self.content(params, boundary: boundary)
        guard params.method != "GET" || (content == nil && params.body == nil) else {
            throw AgentError(
                .validation, "A GET must not have a body (RFC 9110 §9.3.1). Nothing was sent.", cause: "body")
        }
    }

    private static func target(
        _ path: String, query: JSONObject = [:], base: String
    ) throws(AgentError) -> RequestTarget {
        guard path.utf8.count <= longestPath else {
            throw AgentError(.validation, "A path may have at most \(longestPath) bytes.", cause: "path")
        }
        return try RequestTarget(path: path, query: query, base: base)
    }

    /// An endpoint of the profile.
    package init(
        _ params: APICall, endpoint: Endpoint, profile: ProviderProfile, environment: ProviderEnvironment,
        boundary: String
    ) throws(AgentError) {
        let takesBody = endpoint.request.body?.json != nil
        guard params.body == nil || takesBody else {
            throw AgentError(
                .validation, "\(endpoint.name) of \(profile.title) accepts no body. Nothing was sent.", cause: "body")
        }
        let check = ArgumentValidator(endpoint: endpoint, providerTitle: profile.title)
        let given = try check.checked(params.args, hasBody: params.body != nil)
        guard params.next == nil || endpoint.request.method == "GET" else {
            throw AgentError(
                .validation, "\(endpoint.name) of \(profile.title) has no pages: it is not a GET. Nothing was sent.",
                cause: "next")
        }
        let base = try profile.address(of: endpoint.request.host, in: environment)
        var url: String?
        if let next = params.next { url = try Self.target(next, base: base).url }
        var template = endpoint.request
        template.bearer = false
        if let body = params.body { template.body = .json(.literal(body)) }
        self.init(
            profile: profile, environment: environment, boundary: boundary, template: template, url: url,
            bearer: endpoint.request.bearer,
            given: given, endpoint: endpoint, cache: params.cache, retry: params.retry,
            waits: params.waitsForConnectivity ?? profile.api.waitsForConnectivity, timeout: params.timeout)
    }

    private static func content(_ params: APIRequest, boundary: String) throws(AgentError) -> Content? {
        if let text = params.bodyBase64 {
            return Content(bytes: Secret(bytes: try bytes(text)), type: "application/octet-stream")
        }
        if params.bodyStream != nil {
            return Content(bytes: Secret(bytes: []), type: "application/octet-stream", after: [])
        }
        guard let parts = params.multipart else { return nil }
        var body: [MultipartBody.Part] = []
        for part in parts {
            let content: MultipartBody.Content =
                switch part.content {
                case .text(let text): .bytes(Array(text.utf8))
                case .base64(let text): .bytes(try bytes(text))
                case .stream: .streamed
                }
            body.append(
                MultipartBody.Part(name: part.name, fileName: part.fileName, type: part.type, content: content))
        }
        return try content(body, boundary)
    }

    /// The multipart body of an endpoint; `nil` if it has none.
    func parts(_ values: TemplateValues) throws(AgentError) -> Content? {
        guard case .parts(let parts) = template.body else { return nil }
        let body = try MultipartBody.parts(parts, values) { argument throws(AgentError) in
            guard let value = given[argument] else { return nil }
            guard let text = value["body_base64"]?.stringValue else { return .streamed }
            return .bytes(try Self.bytes(text))
        }
        return try Self.content(body, boundary)
    }

    private static func content(_ parts: [MultipartBody.Part], _ boundary: String) throws(AgentError) -> Content {
        let body = MultipartBody(parts: parts, boundary: boundary)
        let (before, after) = try body.bytes()
        return Content(bytes: Secret(bytes: before), type: body.contentType, after: after)
    }

    private static func bytes(_ text: String) throws(AgentError) -> [UInt8] {
        guard let bytes = Base64.decode(text) else {
            throw AgentError(
                .validation, "body_base64 is not valid base64 (RFC 4648 §4). Nothing was sent.", cause: "body")
        }
        return bytes
    }
}
