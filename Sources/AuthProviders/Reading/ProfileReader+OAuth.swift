internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// Profiles of OAuth 2.0 providers: the client and the endpoints; the rest follows from the RFCs.
extension ProfileReader {
    /// Keys about sign-in and renewal that have no meaning with OAuth.
    private static let unsupportedKeys = ["sign_in", "password", "reply", "renewal", "validation", "sign_out"]

    /// - Returns: `nil` for other profiles.
    static func isOAuth(_ root: TOMLSection) -> Bool { root.has("client_id") || root.has("issuer") }

    static func oauthProfile(_ root: TOMLSection, source: String) -> ProviderProfile? {
        root.allow(
            [
                "name", "title", "issuer", "client_id", "registration", "scopes", "oauth", "allow_insecure_http",
                "environments",
            ]
                + [
                    "default_environment", "hosts", "headers", "authorization", "errors", "user", "user_request",
                    "user_update",
                    "api",
                    "endpoints",
                ]
                + unsupportedKeys)
        for key in unsupportedKeys where root.has(key) {
            root.problems.add(key, expected: "nothing: a client_id makes this an OAuth profile", found: "one")
        }
        let name = self.name(root)
        let insecure = root.bool("allow_insecure_http") ?? false
        guard let oauth = oauth(root, insecure: insecure) else { return nil }
        let user = root.section("user").map(userMap) ?? OAuthProfile.user
        let names = PlaceholderNames.session(
            replies: [ResponseMap(refreshToken: .pointer(.whole), user: [.whole])], user: user)
        let environments =
            root.has("environments")
            ? environments(root, insecure: insecure) : ownEnvironment(oauth)
        var profile = ProviderProfile(
            name: name, title: root.string("title") ?? name, source: source, environments: environments,
            defaultEnvironment: defaultEnvironment(root, of: environments), signIn: oauth.methods,
            renewal: Renewal(kind: .refresh))
        profile.allowInsecureHTTP = insecure
        profile.user = user
        profile.oauth = oauth
        readCommonParts(root, names: names, into: &profile)
        checkTokenPlace(root, profile)
        return profile
    }

    private static func oauth(_ root: TOMLSection, insecure: Bool) -> OAuthProfile? {
        let section = root.section("oauth")
        section?.allow(
            [
                "assertion_audience", "audience_by", "bearer_types", "client_auth", "client_key_id", "dpop",
                "final_codes", "parameters", "redirect", "redirect_certificate", "redirect_key",
                "require_pushed_authorization_requests", "resource", "targeted_tokens", "token_objects",
                "token_request",
            ] + OAuthEndpoints.names.map(\.name))
        var endpoints = OAuthEndpoints()
        for (name, path) in OAuthEndpoints.names {
            guard let section, let text = section.string(name) else { continue }
            guard OAuthServer.isEndpoint(text, mayBeInsecure: insecure) else {
                section.problems.add(section.path(name), expected: "an https address, without a fragment", found: text)
                continue
            }
            endpoints[keyPath: path] = text
        }
        let issuer = issuer(root, endpoints, insecure: insecure)
        let registers = root.bool("registration") ?? false
        guard let clientID = clientID(root, registers: registers) else { return nil }
        let scopes = root.strings("scopes") ?? []
        for (index, scope) in scopes.enumerated() where !OAuthScope.isOne(scope) {
            root.problems.add(
                TOMLPath.element("scopes", index), expected: "one scope, without a space (RFC 6749 §3.3)", found: scope)
        }
        let authentication = section?.word("client_auth", of: ClientAuthentication.allCases.map(\.rawValue))
        let assertionAudience = section?.word("assertion_audience", of: AssertionAudience.allCases.map(\.rawValue))
        let audienceBy = section?.word("audience_by", of: AudienceParameter.allCases.map(\.rawValue))
        let redirect = section.flatMap(redirect) ?? .loopback(.usual)
        var profile = OAuthProfile(issuer: issuer, clientID: clientID, scopes: scopes)
        profile.registers = registers
        profile.clientAuthentication = authentication.flatMap(ClientAuthentication.init) ?? .none
        profile.redirect = redirect
        profile.tlsIdentity = section.flatMap { tlsIdentity($0, redirect) }
        profile.endpoints = endpoints
        profile.parameters = section.map(parameters) ?? []
        profile.audienceBy = audienceBy.flatMap(AudienceParameter.init) ?? .resource
        profile.resource = section.flatMap(resource)
        profile.givesTargetedTokens = section?.bool("targeted_tokens") ?? true
        profile.bindsTokens = section?.bool("dpop") ?? false
        profile.assertionAudience = assertionAudience.flatMap(AssertionAudience.init) ?? .issuer
        profile.keyID = section?.string("client_key_id")
        profile.requiresPushedRequests = section?.bool("require_pushed_authorization_requests") ?? false
        profile.tokenEndpoint = section.map(tokenEndpoint) ?? TokenEndpointRules()
        return profile
    }

    private static func tokenEndpoint(_ section: TOMLSection) -> TokenEndpointRules {
        var rules = TokenEndpointRules()
        rules.acceptsJSON = section.word("token_request", of: ["form", "json"]) == "json"
        rules.tokenObjects = pointers(section, "token_objects")
        rules.bearerTypes = section.strings("bearer_types") ?? []
        if section.has("bearer_types"), section.bool("dpop") == true {
            section.problems.add(
                section.path("bearer_types"), expected: "nothing: dpop binds the tokens to a key", found: "one")
        }
        for (index, type) in rules.bearerTypes.enumerated() where type.lowercased() == "dpop" || !OAuthScope.isOne(type)
        {
            section.problems.add(
                TOMLPath.element(section.path("bearer_types"), index),
                expected: "a type of tokens that are sent as Bearer",
                found: type)
        }
        rules.finalCodes = section.strings("final_codes") ?? []
        return rules
    }

    private static func redirect(_ section: TOMLSection) -> RedirectTarget? {
        guard let text = section.string("redirect") else { return nil }
        if let redirect = RedirectTarget(text) { return redirect }
        section.problems.add(section.path("redirect"), expected: RedirectTarget.expected, found: text)
        return nil
    }

    /// RFC 8707 §2.
    private static func resource(_ section: TOMLSection) -> String? {
        guard let text = section.string("resource") else { return nil }
        if OAuthRequests.isResource(text) { return text }
        section.problems.add(
            section.path("resource"), expected: "the whole http or https address of an API, without a fragment",
            found: text)
        return nil
    }

    /// The certificate of the redirect page if it uses TLS: both files, or none if the agent makes one.
    private static func tlsIdentity(_ section: TOMLSection, _ redirect: RedirectTarget) -> TLSIdentityFiles? {
        let keys = ["redirect_certificate", "redirect_key"]
        let paths = keys.map { key -> String? in
            guard let path = section.string(key) else { return nil }
            if !redirect.isSecurePage {
                section.problems.add(
                    section.path(key), expected: "nothing: the redirect is not an https address", found: "one")
            } else if !path.hasPrefix("/") {
                section.problems.add(section.path(key), expected: "an absolute path", found: path)
            }
            return path
        }
        for (index, key) in keys.enumerated() where paths[index] == nil && paths[1 - index] != nil {
            section.problems.add(section.path(key), expected: "a file, beside \(keys[1 - index])", found: "nothing")
        }
        guard let certificate = paths[0], let key = paths[1] else { return nil }
        return TLSIdentityFiles(certificate: certificate, key: key)
    }

    /// Empty if the provider issues one; `nil` if it is missing.
    private static func clientID(_ root: TOMLSection, registers: Bool) -> String? {
        guard registers else { return root.required("client_id", "the name that the provider gave this client") }
        if root.has("client_id") {
            root.problems.add("client_id", expected: "nothing: the provider registers this client", found: "one")
        }
        if !root.has("issuer") {
            root.problems.add("issuer", expected: "the issuer that registers this client", found: "nothing")
        }
        if root.tableIfAny("oauth")?.string("client_auth") == ClientAuthentication.privateKey.rawValue {
            root.problems.add(
                "oauth.client_auth", expected: "none, basic or post: the provider registers this client",
                found: ClientAuthentication.privateKey.rawValue)
        }
        return ""
    }

    /// Unchanged: it is compared with the provider's own issuer byte by byte.
    private static func issuer(_ root: TOMLSection, _ endpoints: OAuthEndpoints, insecure: Bool) -> String? {
        guard let text = root.string("issuer") else {
            if endpoints.token == nil, !root.has("issuer") {
                root.problems.add(
                    "issuer", expected: "the provider's issuer, or a token_endpoint in [oauth] if it has none",
                    found: "nothing")
            }
            return nil
        }
        if text.contains("?") || !OAuthServer.isEndpoint(text, mayBeInsecure: insecure) {
            root.problems.add("issuer", expected: "an https address, without a query or fragment", found: text)
        }
        return text
    }

    /// Additional parameters of an authorization request.
    private static func parameters(_ section: TOMLSection) -> [FormField] {
        guard let table = section.section("parameters") else { return [] }
        return table.keysInOrder.compactMap { name in
            if name == "resource" {
                table.problems.add(
                    table.path(name), expected: "the key resource in [oauth], which all requests carry", found: name)
            } else if OAuthProfile.ownParameters.contains(name) {
                table.problems.add(
                    table.path(name), expected: "a parameter that the agent does not set itself", found: name)
            }
            return table.string(name).map { FormField(name, $0) }
        }
    }

    private static func ownEnvironment(_ oauth: OAuthProfile) -> [ProviderEnvironment] {
        guard let place = oauth.issuer ?? oauth.endpoints.token, let origin = Origin(of: place) else {
            return []
        }
        return [ProviderEnvironment(name: "production", baseURL: origin.text)]
    }
}
