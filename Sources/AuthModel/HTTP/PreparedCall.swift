package import AuthWire

/// One call, checked before anything is sent; only the token is missing.
package struct PreparedCall: Sendable {
    /// A body that replaces the template's.
    struct Content: Sendable {
        /// The whole body, or the bytes before the streamed part.
        let bytes: Secret
        let type: String
        /// The bytes after that part; `nil`: nothing is streamed.
        var after: [UInt8]?
    }

    package let profile: ProviderProfile
    let environment: ProviderEnvironment
    /// Separates the parts of a multipart body.
    let boundary: String
    /// Without its bearer token.
    package var template: RequestTemplate { didSet { prepared = nil } }
    /// Replaces the template's path and query.
    var url: String?
    var content: Content?
    package var bearer = true
    /// The only sign-in whose token may be used, and the error for any other; `nil`: the session's current sign-in.
    package var signIn: (id: SignInID, otherwise: AgentError)?
    /// Values for placeholders, besides those of the session.
    var given = JSONObject()
    var endpoint: Endpoint?

    package var cache = CacheMode.standard
    package var retry = true
    /// It is a write of the outbox: a success that cannot be read is one.
    package var isQueued = false
    package var waits = false
    var timeout: Duration?

    /// What ``prepare(for:)`` has built.
    var prepared: (values: TemplateValues, request: HTTPRequest, after: [UInt8]?)?

    /// Builds the request before it is sent; it is built again only if the session's values have changed by then.
    package mutating func prepare(for record: SessionRecord) throws(AgentError) {
        prepared = nil
        let (request, after) = try build(record)
        prepared = (values(of: record), request, after)
    }

    /// - Returns: the request, and the bytes after the streamed part of its body; `nil`: nothing is streamed.
    /// - Throws: ``ErrorKind/validation`` if a value is not allowed at its place.
    package func build(_ record: SessionRecord) throws(AgentError) -> (request: HTTPRequest, after: [UInt8]?) {
        let values = values(of: record)
        if let prepared, prepared.values == values { return (prepared.request, prepared.after) }
        var request = try RequestBuilder(
            profile: profile, environment: environment, values: values, buildsParts: false
        ).build(template)
        if let url { request.url = url }
        let body: Content? = if let content { content } else { try parts(values) }
        if let body {
            request.body = body.bytes
            if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                request.headers.append(HTTPField("Content-Type", body.type))
            }
        }
        request.largestReply = HTTPRequest.largestAnswer
        if bearer { try profile.tokenPlace.checkIsFree(in: request) }
        return (request, body?.after)
    }

    private func values(of record: SessionRecord) -> TemplateValues {
        var values = TemplateValues(record)
        for argument in endpoint?.arguments ?? [] {
            if let value = given[argument.name] {
                values.assign(argument.name, value, isPath: argument.type == .path)
            } else if let text = argument.fallback?.fill(TemplateValues(record)) {
                values.assign(argument.name, .string(text), isPath: argument.type == .path)
            }
        }
        return values
    }

    /// The tokens that are sent anywhere but at the profile's ``TokenPlace``.
    package var carries: TokenOrigins.Uses {
        template.uses(profile.headers, fallbacks: endpoint?.fallbacks ?? [], isAnswer: { _ in false })
    }

    /// Decodes the response. Its JSON is parsed only to find pages and errors inside a success.
    package func reader(sentAt: WallTime?) -> ResponseDecoder {
        ResponseDecoder(
            profile: profile, sentAt: sentAt, acceptsHTML: acceptsHTML, sentToken: bearer,
            needsValues: endpoint?.pages != nil || profile.errors.envelope != nil || !profile.api.next.isEmpty)
    }

    /// The address of the page after this response; `nil` if there is none, or if the next page is found in another way.
    ///
    /// It may be any address, and is checked when it is requested.
    /// - Parameter url: the URL of the request.
    package func nextPage(after response: APIResponse, to url: String) -> String? {
        let places: [JSONPointer]
        switch endpoint?.pages?.next {
        case .counted, .cursor: return nil
        case .address(let own): places = own
        case nil: places = profile.api.next
        }
        guard template.method == "GET" else { return nil }
        let found =
            if places.isEmpty {
                response.headers["link"].flatMap { LinkHeader.target(of: "next", in: $0) }
            } else {
                places.lazy.compactMap { place in
                    response.body.flatMap { place.find(in: $0)?.stringValue }
                }.first { !$0.isEmpty }
            }
        // Some servers repeat the token.
        return found.map { withoutToken(URLReference.resolve($0, against: url)) }
    }

    package func withoutToken(_ url: String) -> String { profile.tokenPlace.removed(from: url) }

    /// Whether the caller requested an HTML page.
    package var acceptsHTML: Bool {
        template.headers.contains { header in
            header.name.lowercased() == "accept" && header.value.literals.contains { $0.contains("html") }
        }
    }

    package var mayRepeat: Bool {
        retry && RequestTemplate.mayRepeat(method: template.method, headers: template.headers.map(\.name))
    }

    /// Whether the cache may be used: not if the caller sends conditions itself.
    package var isRead: Bool {
        template.method == "GET"
            && !template.headers.contains { Self.ownConditions.contains($0.name.lowercased()) }
    }

    private static let ownConditions: Set<String> = [
        "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range",
    ]

    /// The endpoint of the profile for this method and path, whatever name the call used.
    package func rules(for method: String, path: String) -> Endpoint? {
        if let endpoint, endpoint.request.method == method { return endpoint }
        // A literal path precedes one with placeholders: /users/search before /users/{id}.
        return profile.endpoints.filter { $0.request.method == method }
            .sorted { $0.request.path.placeholders.count < $1.request.path.placeholders.count }
            .first { pattern($0).matches(path) }
    }

    /// How long the profile says that the response to a GET of this path is fresh.
    package func freshFor(path: String) -> Duration? { rules(for: "GET", path: path)?.cache ?? profile.api.cache }

    /// The paths whose responses are outdated after this call.
    package func outdated(path: String) -> [PathPattern] {
        let names = rules(for: template.method, path: path)?.clears ?? []
        return profile.endpoints.filter { names.contains($0.name) }.map(pattern)
    }

    private func pattern(_ endpoint: Endpoint) -> PathPattern {
        let base = try? profile.address(of: endpoint.request.host, in: environment)
        return PathPattern(endpoint.request.path, base: base ?? environment.baseURL)
    }
}
