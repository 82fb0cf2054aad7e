package import AuthWire

/// Where requests carry the session's access token: in one place, once.
package enum TokenPlace: Sendable, Equatable {
    /// `Authorization: Bearer` (RFC 6750), or `DPoP` (RFC 9449) if the token is bound to a key. A header of that name in the
    /// profile replaces it.
    case standard
    case header(String, Template)
    /// Weak: servers and proxies log addresses.
    case query(String, Template)
    case cookie(String, Template)

    /// Adds the token, and the proof of its key if it has one.
    /// - Parameter provider: the provider's title, for errors.
    /// - Throws: ``ErrorKind/validation`` if the place is taken, or if the value is not allowed there.
    package func add(
        _ values: TemplateValues, to request: inout HTTPRequest, for provider: String
    ) throws(AgentError) {
        guard let token = values[TemplateValues.Name.accessToken] else {
            throw AgentError(.notSignedIn, "There is no access token for \(provider).")
        }
        try checkIsFree(in: request)
        switch self {
        case .standard:
            if !request.has(header: "authorization") {
                request.headers.insert(.authorization(token, boundTo: values.proofKey), at: 0)
            }
        case .header(let name, let value):
            request.headers.append(HTTPField(name, try text(value, values, provider)))
        case .query(let name, let value):
            let pair = Form.encode([FormField(name, try text(value, values, provider))])
            request.url += (request.url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + pair
        case .cookie(let name, let value):
            try request.add(cookie: name, try text(value, values, provider))
        }
        if case .standard = self { try request.checkHeaders() }
        request.prove(token, with: values.proofKey)
    }

    package func isHeader(_ name: String) -> Bool {
        switch self {
        case .header(let own, _): own.lowercased() == name.lowercased()
        case .cookie: name.lowercased() == "cookie"
        case .standard, .query: false
        }
    }

    package func isQuery(_ name: String) -> Bool { if case .query(name, _) = self { true } else { false } }

    /// The URL without the query parameter that carries the token.
    package func removed(from url: String) -> String {
        guard case .query(let name, _) = self, let mark = url.firstIndex(of: "?") else { return url }
        let pairs = url[url.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        let kept = pairs.filter { Form.decode(String($0))?.first?.name != name }
        return url[..<mark] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    }

    /// - Throws: ``ErrorKind/validation`` if the request has something in the token's place already.
    func checkIsFree(in request: HTTPRequest) throws(AgentError) {
        switch self {
        case .standard: return
        case .header(let name, _): if request.has(header: name) { throw Self.taken("header \(name)", "headers") }
        case .query(let name, _):
            let query = request.url.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
            // If it cannot be decoded, a server may read anything in it.
            if Form.decode(query)?.contains(where: { $0.name == name }) ?? query.contains(name) {
                throw Self.taken("query parameter \(name)", "path")
            }
        case .cookie(let name, _):
            if request.cookies.contains(where: { $0.name == name }) { throw Self.taken("cookie \(name)", "headers") }
        }
    }

    private func text(
        _ template: Template, _ values: TemplateValues, _ provider: String
    ) throws(AgentError) -> String {
        guard let text = template.fill(values) else {
            let names = template.placeholders.filter { values[$0] == nil }.joined(separator: ", ")
            throw AgentError(.validation, "The authorization of \(provider) has no value for: \(names).")
        }
        guard HeaderRules.isValue(text) else { throw HeaderRules.badValue("the authorization of \(provider)") }
        return text
    }

    private static func taken(_ place: String, _ cause: String) -> AgentError {
        AgentError(
            .validation, "Only the agent may set the \(place): it carries the session's token. Nothing was sent.",
            cause: cause)
    }
}

extension HTTPRequest {
    func has(header name: String) -> Bool { headers.contains { $0.name.lowercased() == name.lowercased() } }

    /// The cookies that it sends (RFC 6265 §4.2.1). Bytes: a semicolon and a mark beside it may be one character.
    var cookies: [(name: String, value: String)] {
        headers.filter { $0.name.lowercased() == "cookie" }.flatMap { field in
            field.value.reveal().utf8.split(separator: UInt8(ascii: ";")).map { pair in
                let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                    .map { String(Substring($0)).withoutSpaceAround }
                return (halves[0], halves.count == 2 ? halves[1] : "")
            }
        }
    }

    /// Adds a cookie to the one `Cookie` field that a request may have (RFC 6265 §5.4).
    /// - Throws: ``ErrorKind/validation`` if the value could end early, or be another cookie.
    mutating func add(cookie name: String, _ value: String) throws(AgentError) {
        // RFC 6265 §4.1.1.
        guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\",;\\".utf8.contains($0) }) else {
            throw AgentError(
                .validation,
                "The value of the cookie \(name) has a character that a cookie must not have. Nothing was sent.",
                cause: "headers")
        }
        let others = headers.filter { $0.name.lowercased() == "cookie" }.map { $0.value.reveal() }
        headers.removeAll { $0.name.lowercased() == "cookie" }
        headers.append(HTTPField("Cookie", (others + ["\(name)=\(value)"]).joined(separator: "; ")))
    }

    fileprivate func checkHeaders() throws(AgentError) {
        for field in headers where !HeaderRules.isValue(field.value.reveal()) {
            throw HeaderRules.badValue("the header \(field.name)")
        }
    }
}
