package import AuthWire

/// One call as it was asked for, settled before anything is sent; only the token is missing.
package struct PreparedCall: Sendable {
    /// In place of the body that the template makes.
    struct Content: Sendable {
        /// All of it, or what stands before the part that is streamed.
        let bytes: Secret
        let type: String
        /// What stands after that part; `nil`: nothing is streamed.
        var after: [UInt8]?
    }

    package let profile: ProviderProfile
    let environment: ProviderEnvironment
    /// Between the parts of a multipart body, if there are any.
    let boundary: String
    /// Without its bearer.
    package var template: RequestTemplate
    /// In place of the template's path and query.
    var url: String?
    var content: Content?
    package var bearer = true
    /// The only sign-in whose token it may be sent with, and the error for any other; `nil`: the session's present one.
    package var signIn: (id: SignInID, otherwise: AgentError)?
    /// By name, what the template's places are filled with besides what the session knows.
    var given = JSONObject()
    var endpoint: Endpoint?

    package var cache = CacheMode.standard
    package var retry = true
    package var waits = false
    var timeout: Duration?

    /// - Returns: the request, and what stands after the part of its body that is streamed; `nil`: nothing is streamed.
    /// - Throws: ``ErrorKind/validation`` if a value is not allowed in its place.
    package func build(_ record: SessionRecord) throws(AgentError) -> (request: HTTPRequest, after: [UInt8]?) {
        var values = TemplateValues(record)
        for argument in endpoint?.arguments ?? [] {
            if let value = given[argument.name] {
                values.assign(argument.name, value, isPath: argument.type == .path)
            } else if let text = argument.fallback?.fill(TemplateValues(record)) {
                values.assign(argument.name, .string(text), isPath: argument.type == .path)
            }
        }
        var request = try RequestBuilder(profile: profile, environment: environment, values: values).build(template)
        if let url { request.url = url }
        let body: Content? = if let content { content } else { try parts(values) }
        if let body {
            request.body = body.bytes
            if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                request.headers.append(HTTPField("Content-Type", body.type))
            }
        }
        request.largestReply = HTTPRequest.largestAnswer
        return (request, body?.after)
    }

    /// Whether a token stands somewhere else than in a bearer's header.
    package var namesTokens: Bool {
        let names =
            template.placeholders + profile.headers.flatMap(\.value.placeholders)
            + (endpoint?.arguments.flatMap { $0.fallback?.placeholders ?? [] } ?? [])
        return names.contains { [TemplateValues.Name.accessToken, TemplateValues.Name.refreshToken].contains($0) }
    }

    /// What makes an answer of it. Pages and errors inside a success are found by looking into the answer.
    package func reader(sentAt: WallTime?) -> ResponseDecoder {
        ResponseDecoder(
            profile: profile, sentAt: sentAt, acceptsHTML: acceptsHTML, sentToken: bearer,
            needsValues: endpoint?.pages != nil || profile.errors.envelope != nil)
    }

    /// Whether a page for people is what was asked for.
    package var acceptsHTML: Bool {
        template.headers.contains { header in
            header.name.lowercased() == "accept" && header.value.literals.contains { $0.contains("html") }
        }
    }

    package var mayRepeat: Bool {
        retry && RequestTemplate.mayRepeat(method: template.method, headers: template.headers.map(\.name))
    }

    /// Whether the answer may come from, and go to, what is kept: not where the caller keeps answers of its own.
    package var isRead: Bool {
        template.method == "GET"
            && !template.headers.contains { Self.ownConditions.contains($0.name.lowercased()) }
    }

    private static let ownConditions: Set<String> = [
        "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range",
    ]

    /// What the profile says about a call of this method to this path, by whichever name it was made.
    package func rules(for method: String, path: String) -> Endpoint? {
        if let endpoint, endpoint.request.method == method { return endpoint }
        // A path that is written out goes before one with places: /users/search before /users/{id}.
        return profile.endpoints.filter { $0.request.method == method }
            .sorted { $0.request.path.placeholders.count < $1.request.path.placeholders.count }
            .first { pattern($0).matches(path) }
    }

    /// How long the profile wants the answer of a GET to this path to be fresh.
    package func freshFor(path: String) -> Duration? { rules(for: "GET", path: path)?.cache ?? profile.api.cache }

    /// The paths whose answers are out of date after this call.
    package func outdated(path: String) -> [PathPattern] {
        let names = rules(for: template.method, path: path)?.clears ?? []
        return profile.endpoints.filter { names.contains($0.name) }.map(pattern)
    }

    private func pattern(_ endpoint: Endpoint) -> PathPattern {
        PathPattern(endpoint.request.path, base: environment.baseURL)
    }
}
