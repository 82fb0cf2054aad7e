extension OAuthServing {
    /// The page on which the user signs in. Its form contains the whole request.
    func authorize(_ call: Call) throws(Refusal) -> Answer {
        let request = try request(call.query, isLast: false)
        let carried = call.query["request_uri"] == nil ? request : call.query
        let fields = carried.sorted { $0.key < $1.key }.map { name, value in
            "<input type=\"hidden\" name=\"\(Self.escaped(name))\" value=\"\(Self.escaped(value))\">"
        }
        let page = """
            <!DOCTYPE html>
            <html><head><title>Sign in</title></head><body><form method="post" action="/authorize">
            \(fields.joined(separator: "\n"))
            <label>Name <input name="name" id="name"></label>
            <button id="yes">Allow</button></form></body></html>
            """
        return Answer(headers: [("content-type", "text/html; charset=utf-8")], body: Array(page.utf8))
    }

    /// Redirects the browser with a code or a refusal.
    func consent(_ call: Call) throws(Refusal) -> Answer {
        var form = try call.form()
        form["name"] = nil
        let request = try request(form)
        var answer: [(String, String)] = [("state", request["state"] ?? "")]
        if state.applies(.mixUp) {
            answer.append(("iss", "https://somebody-else.example"))
        } else if !state.applies(.omitsIssuer) {
            answer.append(("iss", state.issuer))
        }
        if state.applies(.denies) {
            answer += [("error", "access_denied"), ("error_description", "The user said <no>")]
        } else {
            answer.append(
                (
                    "code",
                    state.newCode(
                        redirectURI: request["redirect_uri"] ?? "", challenge: request["code_challenge"] ?? "",
                        nonce: request["nonce"], thumbprint: request["dpop_jkt"])
                ))
        }
        let redirect = request["redirect_uri"] ?? ""
        let query = answer.map { "\($0.0)=\($0.1.addingFormEscapes)" }.joined(separator: "&")
        return Answer(status: 303, headers: [("location", redirect + (redirect.contains("?") ? "&" : "?") + query)])
    }

    /// The request, or the pushed one with this name, which is valid once (RFC 9126 §4).
    private func request(_ fields: [String: String], isLast: Bool = true) throws(Refusal) -> [String: String] {
        if let name = fields["request_uri"] {
            guard fields["client_id"] == state.client?.id,
                let pushed = state.pushed(name, isLast: isLast)
            else { throw .oauth("invalid_request_uri") }
            return pushed
        }
        guard !state.configuration.requiresPushedRequests else {
            throw .oauth("invalid_request", "the request has to be pushed")
        }
        return try checked(fields)
    }

    /// Redirects to this machine, or to a program on it.
    private static let redirects = [
        "http://127.0.0.1:", "http://127.0.0.1/", "http://[::1]:", "http://localhost:", "https://127.0.0.1:",
        "https://localhost:", "com.example.authd:/",
    ]

    /// Checks the required parameters (RFC 6749 §4.1.1, RFC 7636 §4.3), and that the redirect leads to this machine.
    func checked(_ fields: [String: String]) throws(Refusal) -> [String: String] {
        let known = [
            "response_type", "client_id", "redirect_uri", "state", "scope", "nonce", "code_challenge",
            "code_challenge_method", "dpop_jkt",
        ]
        guard fields["response_type"] == "code", fields["client_id"] == state.client?.id,
            fields["code_challenge_method"] == "S256", fields["code_challenge"]?.count == 43,
            (fields["state"]?.count ?? 0) >= 22,
            fields["dpop_jkt"]?.count == (state.configuration.requiresProofs ? 43 : nil),
            Self.redirects.contains(where: { fields["redirect_uri"]?.hasPrefix($0) == true })
        else { throw .oauth("invalid_request", "the authorization request is invalid") }
        return fields.filter { known.contains($0.key) }
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
