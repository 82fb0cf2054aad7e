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
    /// The same for their details.
    var details: String?
    /// Where a response of 2xx says whether it is an error, and the value for a success.
    var envelope: String?
    var success: JSON?
    /// The rule for a success, as JSON (``ResponseRule/json``), if a redirect can be one.
    var rule: JSON?
    /// The metadata of an authorization server is expected, with this issuer.
    var issuer: String?
    /// For a request before a sign-in: the rules of what is captured from its response (``ResponseRule/json``), by name.
    var captures: JSON?
    /// Why it is not sent.
    package var skipped: String?

    package init(blank: Blank) {}

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.required("method", &method, .string)
        try visitor.required("url", &url, .string)
        try visitor.required("headers", &headers, .stringsByName)
        try visitor.optional("body", &body, .string)
        try visitor.required("messages", &messages, .strings)
        try visitor.optional("details", &details, .string)
        try visitor.optional("envelope", &envelope, .string)
        try visitor.optional("success", &success, .any)
        try visitor.optional("rule", &rule, .any)
        try visitor.optional("issuer", &issuer, .string)
        try visitor.optional("captures", &captures, .any)
        try visitor.optional("skipped", &skipped, .string)
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
        var trials: [ProfileTrial] = []
        if oauth == nil {
            trials += signIn.flatMap { signInTrials($0) }
            trials += [
                renewal.request.map { trial("renewal.request", $0, renewal.reply?.success) },
                validation.map { trial("validation", $0) },
            ].compactMap(\.self)
        }
        if let userRequest { trials.append(trial("user_request.request", userRequest.request)) }
        return trials
            + endpoints.filter {
                $0.request.method == "GET" && $0.arguments.allSatisfy { $0.optional || $0.fallback != nil }
            }
            .map { trial("endpoints.\($0.name)", $0.request) }
    }

    /// Those of a sign-in, in the order in which it sends them. What could change something, or needs an earlier response, is
    /// named and not sent.
    private func signInTrials(_ method: SignInMethod) -> [ProfileTrial] {
        let place = "sign_in.\(method.name)"
        var trials = method.before.enumerated().map { index, template in
            var trial = readingTrial("\(place).before[\(index)]", template)
            var captures = JSONObject()
            for capture in template.captures { captures[capture.name] = ResponseRule(place: capture.place).json }
            trial.captures = .object(captures)
            return trial
        }
        if let challenge = method.challenge {
            trials.append(
                skipped("\(place).challenge.request", challenge.request, "the provider might send somebody a code"))
        }
        if let first = method.first {
            trials.append(skipped("\(place).first.request", first.request, "it might create an account"))
        }
        if let request = method.request {
            trials.append(trial("\(place).request", request, success(of: .own, method)))
        }
        if let check = method.key?.check { trials.append(readingTrial("\(place).check", check)) }
        return trials
            + method.next.enumerated().map { index, step in
                skipped("\(place).next[\(index)].request", step.request, "it needs an earlier response")
            }
    }

    /// The trial of a request that is expected to change nothing.
    private func readingTrial(_ name: String, _ template: RequestTemplate) -> ProfileTrial {
        template.method == "GET"
            ? trial(name, template) : skipped(name, template, "a \(template.method) might change something")
    }

    private func skipped(_ name: String, _ template: RequestTemplate, _ reason: String) -> ProfileTrial {
        var trial = self.trial(name, template)
        trial.skipped = reason
        return trial
    }

    private func trial(
        _ name: String, _ template: RequestTemplate, _ rule: ResponseRule? = nil
    ) -> ProfileTrial {
        var trial = ProfileTrial(blank: Blank())
        (trial.name, trial.method, trial.rule) = (name, template.method, rule?.json)
        var open = template
        open.bearer = false
        // A path needs its values. Everything else is left out.
        let values = TemplateValues(
            standIn: "0", for: template.path.placeholders.filter { $0 != TemplateValues.Name.accessToken })
        guard let environment = environments.first,
            let request = try? RequestBuilder(profile: self, environment: environment, values: values).build(open)
        else {
            trial.skipped = "it cannot be built without credentials"
            return trial
        }
        trial.url = request.url
        trial.headers = Dictionary(request.headers.map { ($0.name, $0.value.reveal()) }) { first, _ in first }
        trial.body = request.body?.reveal()
        trial.messages = errors.message.map(\.text)
        trial.details = errors.details?.text
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
        let (isExpected, text) =
            redirectMeaning(reply, body) ?? captured(reply, body) ?? meaning(of: reply.status, body)
        return tried(status: reply.status, isExpected ? text + message(in: body, reply) : text, isExpected: isExpected)
    }

    package func tried(status: Int? = nil, _ message: String, isExpected: Bool) -> TriedRequest {
        var tried = TriedRequest(blank: Blank())
        (tried.request, tried.method, tried.url, tried.httpStatus) = (name, method, url, status)
        (tried.message, tried.isExpected) = (message, isExpected)
        return tried
    }

    /// For a request that was not sent.
    package func notTried(_ reason: String) -> TriedRequest {
        var tried = tried("not tried: \(reason)", isExpected: true)
        tried.isSkipped = true
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
        return switch ErrorMap.Envelope(pointer: pointer, success: success).verdict(body) {
        case .success: (true, "accepted without credentials")
        case .failure: (true, "refused without credentials, in the envelope")
        case .absent: (false, "the response has no \(envelope)")
        }
    }

    /// What a response before a sign-in has for the next request. It may be a page.
    private func captured(_ reply: HTTPResponse, _ body: ResponseBody) -> (isExpected: Bool, String)? {
        guard let captures = captures?.objectValue, (200..<300).contains(reply.status) else { return nil }
        if case .undecodable = body { return nil }
        let rules = captures.map { (name: $0.key, rule: ResponseRule(json: $0.value)) }
        let missing = rules.filter { !$0.rule.holds(reply, body, code: { nil }) }
        guard missing.isEmpty else {
            let places = missing.map { "\($0.name) (\($0.rule.place?.text ?? ""))" }
            return (false, "the response has no \(places.joined(separator: ", "))")
        }
        let names = rules.map(\.name).joined(separator: ", ")
        return (true, names.isEmpty ? "answered without credentials" : "answered without credentials, with \(names)")
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
        guard issuer == nil, captures == nil, body.json != nil else { return "" }
        let map = ErrorMap(
            message: messages.compactMap { try? JSONPointer($0) }, details: details.flatMap { try? JSONPointer($0) })
        let words = ErrorText(body, map: map)
        if let text = words.message ?? words.details.first { return "; message: \(text)" }
        guard !(200..<300).contains(reply.status) || isRefusal(body) else { return "" }
        let members = body.json?.objectValue?.prefix(8).compactMap { ProviderText.clean($0.key) } ?? []
        return "; errors.message finds no text"
            + (members.isEmpty ? "" : " (the response has \(members.joined(separator: ", ")))")
    }

    /// Whether the envelope says so.
    private func isRefusal(_ body: ResponseBody) -> Bool {
        guard let pointer = envelope.flatMap({ try? JSONPointer($0) }) else { return false }
        return ErrorMap.Envelope(pointer: pointer, success: success).verdict(body) == .failure
    }
}
