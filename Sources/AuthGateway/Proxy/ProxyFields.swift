import AuthModel
import AuthWire

/// What of a message is passed on.
package enum ProxyFields {
    /// The fields of one connection (RFC 9110 §7.6.1), beside those that `Connection` names.
    private static let ofConnection: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]
    /// Set for the connection to the server, or for the token: a request has exactly one. The key of the proxy is not
    /// for the server.
    private static let ofRequest: Set<String> = [
        "authd-key", "authorization", "content-length", "dpop", "expect", "host",
    ]

    /// The request as the server gets it.
    /// - Throws: if the token cannot be sent as the profile says, or the server would get the key of the proxy.
    package static func request(
        _ request: FrontRequest, to target: ProxyTarget, with token: ProxyToken
    ) throws(FrontProblem) -> (url: String, fields: [(name: String, value: String)]) {
        var left = dropped(request.head.fields).union(ofRequest)
        if let key = request.keyHeader { left.insert(key) }
        if case .header(let name, _) = token.place { left.insert(name.lowercased()) }
        var fields = request.head.fields.filter { !left.contains($0.name.lowercased()) }
        if case .cookie(let name, _) = token.place { remove(cookie: name, from: &fields) }
        for index in fields.indices { fields[index].value = value(of: fields[index], for: request, to: target) }
        var url = token.place.removed(from: target.url(for: request.target))
        try checkKey(request, fields)
        do throws(AgentError) {
            try token.add(to: &fields, url: &url)
        } catch {
            throw FrontProblem(error)
        }
        return (url, fields)
    }

    /// A client may put the key where it is not replaced, such as in another header with an address of the proxy.
    private static func checkKey(
        _ request: FrontRequest, _ fields: [(name: String, value: String)]
    ) throws(FrontProblem) {
        let place =
            request.hasKey(request.target) ? "its path or query" : fields.first { request.hasKey($0.value) }?.name
        guard let place else { return }
        throw FrontProblem(
            400, .validation,
            "The request was not sent: the server would get the proxy's key, in \(VisibleText.line(place)).")
    }

    /// The response as the client gets it.
    package static func response(
        _ fields: [(name: String, value: String)], of target: ProxyTarget, prefix: String
    ) -> [(name: String, value: String)] {
        let left = dropped(fields)
        return fields.filter { !left.contains($0.name.lowercased()) }.map { field in
            switch field.name.lowercased() {
            case "location", "content-location": (field.name, target.location(field.value, prefix: prefix))
            default: field
            }
        }
    }

    /// An address of the proxy becomes one of the server, which compares it with its own. The proxy's has the key.
    private static func value(
        of field: (name: String, value: String), for request: FrontRequest, to target: ProxyTarget
    ) -> String {
        switch field.name.lowercased() {
        case "origin": request.target(of: field.value).map { _ in target.origin.text } ?? field.value
        case "referer": request.target(of: field.value).map { _ in target.origin.text + "/" } ?? field.value
        // WebDAV (RFC 4918 §10.3).
        case "destination": request.target(of: field.value).map(target.url(for:)) ?? field.value
        case "if": conditions(field.value, for: request, to: target)
        default: field.value
        }
    }

    /// WebDAV's `If` (RFC 4918 §10.4). The address of a resource is in angle brackets outside of lists. In a list,
    /// angle brackets have lock tokens, and square brackets and quotes have entity tags; these are the server's own and
    /// do not change.
    private static func conditions(_ text: String, for request: FrontRequest, to target: ProxyTarget) -> String {
        var result = ""
        // Scalars: a bracket with a combining mark is another character, but a server still sees the bracket.
        var rest = text.unicodeScalars[...]
        var isInList = false
        while let scalar = rest.first {
            let end: Unicode.Scalar? =
                switch scalar {
                case "<": ">"
                case "[": "]"
                case "\"": "\""
                default: nil
                }
            guard let end else {
                isInList = scalar == "(" || (isInList && scalar != ")")
                result.unicodeScalars.append(rest.removeFirst())
                continue
            }
            // Without its end, the rest has no meaning.
            guard let close = rest.dropFirst().firstIndex(of: end) else { break }
            let inside = String(rest[..<close].dropFirst())
            let address = scalar == "<" && !isInList ? request.target(of: inside).map(target.url(for:)) : nil
            result += "\(scalar)\(address ?? inside)\(end)"
            rest = rest[close...].dropFirst()
        }
        return result + String(rest)
    }

    private static func dropped(_ fields: [(name: String, value: String)]) -> Set<String> {
        var names = ofConnection
        for field in fields where field.name.lowercased() == "connection" {
            for name in field.value.unicodeScalars.split(separator: ",") {
                names.insert(String(name).lowercased().withoutSpaceAround)
            }
        }
        return names
    }

    private static func remove(cookie name: String, from fields: inout [(name: String, value: String)]) {
        for index in fields.indices where fields[index].name.lowercased() == "cookie" {
            // Scalars: an equals sign with a combining mark is another character, but a server still sees the sign.
            fields[index].value = fields[index].value.unicodeScalars.split(separator: ";")
                .map { String($0).withoutSpaceAround }
                .filter { !$0.unicodeScalars.prefix { $0 != "=" }.elementsEqual(name.unicodeScalars) }
                .joined(separator: "; ")
        }
        fields.removeAll { $0.name.lowercased() == "cookie" && $0.value.isEmpty }
    }
}
