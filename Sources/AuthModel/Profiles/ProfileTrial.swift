package import AuthWire

/// A request of a profile without credentials, which shows how a server answers it.
package struct ProfileTrial: Sendable, WireObject {
    /// Its place in the profile.
    package var name = ""
    package var method = ""
    package var url = ""
    package var headers: [String: String] = [:]
    package var body: String?
    /// JSON Pointers to the messages of errors.
    var messages: [String] = []
    /// Where a response of 2xx says whether it is an error, and the value for a success.
    var envelope: String?
    var success: JSON?
    /// The rule for a success, as JSON (``ResponseRule/json``), if a redirect can be one.
    var rule: JSON?
    /// The metadata of an authorization server is expected, with this issuer.
    var issuer: String?

    package init(blank: Blank) {}

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.required("method", &method, .string)
        try visitor.required("url", &url, .string)
        try visitor.required("headers", &headers, .stringsByName)
        try visitor.optional("body", &body, .string)
        try visitor.required("messages", &messages, .strings)
        try visitor.optional("envelope", &envelope, .string)
        try visitor.optional("success", &success, .any)
        try visitor.optional("rule", &rule, .any)
        try visitor.optional("issuer", &issuer, .string)
    }

    package var request: HTTPRequest {
        HTTPRequest(
            method: method, url: url, headers: headers.map { HTTPField($0.key, $0.value) },
            body: body.map { Secret($0) })
    }
}

// MARK: Requests

extension ProviderProfile {
    /// Requests that a server refuses without credentials, and that change nothing there.
    /// - Parameter base: replaces the base URL of the environment, and the issuer of an OAuth profile.
    package func trials(at base: BaseURL) -> [ProfileTrial] {
        var profile = self
        profile.environments = [ProviderEnvironment(name: defaultEnvironment, baseURL: base.text)]
        if let oauth {
            let places = oauth.issuer == nil ? [] : OAuthServer.places(of: base.text)
            return places.map { place in
                var trial = ProfileTrial(blank: Blank())
                (trial.name, trial.method, trial.url, trial.issuer) = ("issuer", "GET", place, base.text)
                trial.headers = ["Accept": "application/json"]
                return trial
            } + profile.ownTrials
        }
        return profile.ownTrials
    }

    private var ownTrials: [ProfileTrial] {
        var named: [(String, RequestTemplate?, ResponseRule?)] = []
        if oauth == nil {
            named += signIn.map { ("sign_in.\($0.name).request", $0.request, success(of: .own, $0)) }
            named += [("renewal.request", renewal.request, renewal.reply?.success), ("validation", validation, nil)]
        }
        named.append(("user_request.request", userRequest?.request, nil))
        named += endpoints.filter {
            $0.request.method == "GET" && $0.arguments.allSatisfy { $0.optional || $0.fallback != nil }
        }
        .map { ("endpoints.\($0.name)", $0.request, nil) }
        return named.compactMap { name, template, rule in
            guard let template, var trial = trial(name, template) else { return nil }
            trial.rule = rule?.json
            return trial
        }
    }

    /// `nil` if the request cannot be built without values.
    private func trial(_ name: String, _ template: RequestTemplate) -> ProfileTrial? {
        var open = template
        open.bearer = false
        // A path needs its values. Everything else is left out.
        let values = TemplateValues(
            standIn: "0", for: template.path.placeholders.filter { $0 != TemplateValues.Name.accessToken })
        guard let environment = environments.first,
            let request = try? RequestBuilder(profile: self, environment: environment, values: values).build(open)
        else { return nil }
        var trial = ProfileTrial(blank: Blank())
        (trial.name, trial.method, trial.url) = (name, request.method, request.url)
        trial.headers = Dictionary(request.headers.map { ($0.name, $0.value.reveal()) }) { first, _ in first }
        trial.body = request.body?.reveal()
        trial.messages = errors.message.map(\.text)
        trial.envelope = errors.envelope?.pointer.text
        trial.success = errors.envelope?.success
        return trial
    }
}

// MARK: Responses

extension ProfileTrial {
    /// What a response shows.
    package func finding(in reply: HTTPResponse) -> TriedRequest {
        let body = ResponseBody(reply)
        let (isExpected, text) = redirectMeaning(reply, body) ?? meaning(of: reply.status, body)
        return tried(status: reply.status, isExpected ? text + message(in: body, reply) : text, isExpected: isExpected)
    }

    package func tried(status: Int? = nil, _ message: String, isExpected: Bool) -> TriedRequest {
        var tried = TriedRequest(blank: Blank())
        (tried.request, tried.method, tried.url, tried.httpStatus) = (name, method, url, status)
        (tried.message, tried.isExpected) = (message, isExpected)
        return tried
    }

    private func meaning(of status: Int, _ body: ResponseBody) -> (isExpected: Bool, String) {
        switch status {
        case 404, 410: return (false, "the server has no such path")
        case 405, 501: return (false, "the server does not allow \(method) there")
        case 429: return (true, "too many requests were sent")
        case 500...: return (false, "the server failed")
        default: break
        }
        switch body {
        case .page: return (false, "the response is an HTML page")
        case .undecodable(let reason): return (false, "the response is unreadable: \(reason)")
        case .empty, .json, .text: break
        }
        guard (200..<300).contains(status) else { return (true, "refused without credentials") }
        if let issuer { return metadata(body.json ?? .null, issuer) }
        guard let envelope, let pointer = try? JSONPointer(envelope) else {
            return (true, "accepted without credentials")
        }
        guard let found = body.json.flatMap(pointer.find) else { return (false, "the response has no \(envelope)") }
        return (
            true, found == success ? "accepted without credentials" : "refused without credentials, in the envelope"
        )
    }

    private func metadata(_ json: JSON, _ issuer: String) -> (isExpected: Bool, String) {
        guard let named = json["issuer"]?.stringValue else { return (false, "the metadata has no issuer") }
        guard OAuthServer.isMetadata(json, of: issuer) else {
            return (false, "the metadata is of the issuer \(ProviderText.clean(named) ?? "")")
        }
        let found = OAuthEndpoints.names.map(\.name).filter { json[$0]?.stringValue != nil }
        let challenges = json["code_challenge_methods_supported"]?.arrayValue
        guard challenges?.contains("S256") ?? true else {
            return (false, "the server does not support PKCE with S256 (RFC 7636)")
        }
        return (true, "metadata with \(found.joined(separator: ", "))")
    }

    /// What the profile finds of the error's message.
    private func message(in body: ResponseBody, _ reply: HTTPResponse) -> String {
        guard issuer == nil, body.json != nil else { return "" }
        let map = ErrorMap(message: messages.compactMap { try? JSONPointer($0) })
        if let text = ErrorText(body, map: map).message { return "; message: \(text)" }
        guard !(200..<300).contains(reply.status) || envelope != nil else { return "" }
        let members = body.json?.objectValue?.prefix(8).compactMap { ProviderText.clean($0.key) } ?? []
        return "; errors.message finds no text"
            + (members.isEmpty ? "" : " (the response has \(members.joined(separator: ", ")))")
    }
}
