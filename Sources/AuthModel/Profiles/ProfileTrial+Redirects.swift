import AuthWire

/// What a redirect shows about a request. It is never followed.
extension ProfileTrial {
    /// What a path's segment reads like if a page there signs users in, without separators.
    private static let signInWords: Set = [
        "login", "logon", "signin", "signon", "sso", "auth", "authenticate", "authorize", "oauth2", "saml",
    ]

    /// `nil`: the response is read as any other.
    func redirectMeaning(_ reply: HTTPResponse, _ body: ResponseBody) -> (isExpected: Bool, String)? {
        let isRedirect = (300..<400).contains(reply.status)
        let target = reply.header("Location").map { URLReference.resolve($0, against: url) }
        let place = target.flatMap(ProviderText.clean) ?? "no address"
        if let rule = rule.map(ResponseRule.init(json:)), isJudged(reply, body, by: rule) {
            if rule.statuses.contains(reply.status) || !isRedirect, rule.holds(reply, body, code: { nil }) {
                guard isRedirect else { return nil }
                return (false, "the redirect to \(place) is a success for the profile's `success`, without credentials")
            }
            let words = isRedirect ? "a redirect to \(place)" : "HTTP \(reply.status)"
            return (true, "refused without credentials, with \(words)")
        }
        guard isRedirect else { return nil }
        guard let target else { return (false, "the server redirects this request, to no address") }
        if target != url, Self.isSamePlace(target, url) {
            return (false, "the server redirects to \(place): use that address")
        }
        let words = "the server redirects this request to \(place)"
        if name.hasPrefix("sign_in."), name.hasSuffix(".request") {
            return (false, words + ", as for a form in a browser: `reply.success` says which redirect is a success")
        }
        guard Self.isSignInPage(target) else { return (false, words) }
        return (false, words + ", its sign-in page: that a session has ended is not recognized, as for 401")
    }

    /// Whether the rule can say what the response means: a page is no response of an API, unless it redirects browsers.
    private func isJudged(_ reply: HTTPResponse, _ body: ResponseBody, by rule: ResponseRule) -> Bool {
        if rule.statuses.contains(where: (300..<400).contains) { return reply.status < 400 }
        guard reply.status < 300 else { return false }
        return switch body {
        case .empty, .json, .text: true
        case .page, .undecodable: false
        }
    }

    /// Whether it is the same path at the same host, with or without a slash at the end, and not without TLS.
    private static func isSamePlace(_ target: String, _ url: String) -> Bool {
        func path(_ url: String) -> Substring {
            let path = Origin.path(of: String(url.prefix { $0 != "?" && $0 != "#" }))
            return path.hasSuffix("/") ? path.dropLast() : path[...]
        }
        guard let there = Origin(of: target), let here = Origin(of: url), there.host == here.host else { return false }
        return path(target) == path(url) && (there.isSecure || !here.isSecure)
    }

    private static func isSignInPage(_ target: String) -> Bool {
        let path = Origin.path(of: String(target.prefix { $0 != "?" })).lowercased()
        return path.split(separator: "/").contains { segment in
            // `sign-in`, `sign_in` and `signin.html` are the same.
            let name = segment.prefix { $0 != "." }.filter { $0 != "-" && $0 != "_" }
            return signInWords.contains(name)
        }
    }
}
