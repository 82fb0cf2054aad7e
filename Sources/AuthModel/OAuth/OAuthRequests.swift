package import AuthWire

/// Builds requests to an authorization server: forms (RFC 6749), never a secret in a URL.
package struct OAuthRequests {
    package let profile: ProviderProfile
    package let oauth: OAuthProfile
    package let server: OAuthServer
    package let client: OAuthClient
    /// `nil`: nothing can be signed.
    package let cryptography: (any Cryptography)?
    /// On the server's clock, as far as it is known.
    package let now: WallTime
    /// Some servers require the client ID in the form even with `basic`.
    package var namesClientInForm: Bool

    package init(
        profile: ProviderProfile, oauth: OAuthProfile, server: OAuthServer, client: OAuthClient,
        cryptography: (any Cryptography)?, now: WallTime, namesClientInForm: Bool
    ) {
        self.profile = profile
        self.oauth = oauth
        self.server = server
        self.client = client
        self.cryptography = cryptography
        self.now = now
        self.namesClientInForm = namesClientInForm
    }

    /// RFC 8628 §3.1.
    package func deviceAuthorization() throws(AgentError) -> HTTPRequest {
        try post(server.endpoints.deviceAuthorization, "the device grant", scoped(oauth.parameters + resource))
    }

    /// RFC 8628 §3.4.
    package func deviceToken(_ device: DeviceAuthorization) throws(AgentError) -> HTTPRequest {
        try token(
            "urn:ietf:params:oauth:grant-type:device_code", [FormField("device_code", device.code.reveal())] + resource)
    }

    /// RFC 9126 §2.1.
    package func pushed(_ attempt: AuthorizationAttempt) throws(AgentError) -> HTTPRequest {
        // Without `basic`, the client authentication adds the client ID.
        let fields = attempt.request.filter { oauth.clientAuthentication == .basic || $0.name != "client_id" }
        return try post(server.endpoints.pushedAuthorization, "pushed requests", fields)
    }

    /// RFC 6749 §4.1.3, RFC 7636 §4.5.
    package func code(_ code: Secret, of attempt: AuthorizationAttempt) throws(AgentError) -> HTTPRequest {
        try token(
            "authorization_code",
            [
                FormField("code", code.reveal()), FormField("redirect_uri", attempt.redirectURI),
                FormField("code_verifier", attempt.verifier.reveal()),
            ] + resource)
    }

    /// RFC 6749 §6. Without `scope`, the granted scopes stay.
    /// - Parameter scopes: requested again for the session itself after a refresh for fewer scopes.
    package func refresh(
        _ refreshToken: Secret, for target: TokenTarget? = nil, scopes: [String] = []
    ) throws(AgentError) -> HTTPRequest {
        let back = target == nil && !scopes.isEmpty ? [FormField("scope", scopes.joined(separator: " "))] : []
        return try token("refresh_token", [FormField("refresh_token", refreshToken.reveal())] + back + targeted(target))
    }

    /// RFC 6749 §4.4.
    package func clientCredentials(for target: TokenTarget? = nil) throws(AgentError) -> HTTPRequest {
        let fields = try targeted(target)
        return try token("client_credentials", fields.contains { $0.name == "scope" } ? fields : scoped(fields))
    }

    /// RFC 8693 §2.1.
    package func exchange(_ accessToken: Secret, for target: TokenTarget) throws(AgentError) -> HTTPRequest {
        let kind = "urn:ietf:params:oauth:token-type:access_token"
        return try token(
            "urn:ietf:params:oauth:grant-type:token-exchange",
            [
                FormField("subject_token", accessToken.reveal()), FormField("subject_token_type", kind),
                FormField("requested_token_type", kind),
            ] + targeted(target))
    }

    /// RFC 7009 §2.1.
    package func revocation(of token: Secret, _ kind: String) throws(AgentError) -> HTTPRequest {
        var request = try post(
            server.endpoints.revocation, "revocation",
            [FormField("token", token.reveal()), FormField("token_type_hint", kind)])
        // No RFC requires it, but a server may revoke a bound token only for the holder of its key.
        request.prove(nil, with: client.proofKey)
        return request
    }

    /// RFC 7662 §2.1.
    package func introspection(of token: Secret) throws(AgentError) -> HTTPRequest {
        try post(
            server.endpoints.introspection, "introspection",
            [FormField("token", token.reveal()), FormField("token_type_hint", "access_token")])
    }

    /// OpenID Connect Core 1.0 §5.3.
    package func userInfo(_ accessToken: Secret) throws(AgentError) -> HTTPRequest {
        guard let url = server.endpoints.userInfo else { throw notOffered("user info") }
        var request = HTTPRequest(
            method: "GET", url: url,
            headers: [
                .authorization(accessToken, boundTo: client.proofKey), HTTPField("Accept", "application/json"),
            ])
        request.prove(accessToken, with: client.proofKey)
        return request
    }

    private func token(_ grant: String, _ fields: [FormField]) throws(AgentError) -> HTTPRequest {
        var request = try post(server.endpoints.token, "tokens", [FormField("grant_type", grant)] + fields)
        request.prove(nil, with: client.proofKey)
        return request
    }

    private func targeted(_ target: TokenTarget?) throws(AgentError) -> [FormField] {
        guard let target else { return resource }
        let scopes = target.scopes.isEmpty ? [] : [FormField("scope", target.scopes.joined(separator: " "))]
        guard let audience = target.audience else { return scopes + resource }
        if oauth.audienceBy == .resource {
            // RFC 8707 §2.
            guard Self.isResource(audience) else {
                throw AgentError(
                    .validation,
                    "\(profile.title) requires an audience that is an absolute http or https URL without a fragment.")
            }
            return scopes + [FormField("resource", audience)]
        }
        return scopes + [FormField("audience", audience)]
    }

    /// RFC 8707 §2: a server may restrict each token to what its own request names.
    private var resource: [FormField] { oauth.resource.map { [FormField("resource", $0)] } ?? [] }

    /// Whether it can identify an API: an absolute URL without a fragment (RFC 8707 §2).
    package static func isResource(_ text: String) -> Bool {
        Origin(of: text) != nil
            && text.utf8.allSatisfy { $0.isVisible && $0 != UInt8(ascii: "#") }
    }

    private func scoped(_ fields: [FormField]) -> [FormField] {
        oauth.scopes.isEmpty ? fields : fields + [FormField("scope", oauth.scopes.joined(separator: " "))]
    }

    private func post(_ url: String?, _ what: String, _ fields: [FormField]) throws(AgentError) -> HTTPRequest {
        guard let url else { throw notOffered(what) }
        let isJSON = oauth.tokenEndpoint.acceptsJSON
        var fields = fields
        var request = HTTPRequest(
            method: "POST", url: url,
            headers: [
                HTTPField("Content-Type", isJSON ? "application/json" : "application/x-www-form-urlencoded"),
                HTTPField("Accept", "application/json"),
            ])
        // A redirect would send the form to another server.
        request.followsRedirects = false
        switch (oauth.clientAuthentication, client.secret) {
        case (.none, _): fields.append(FormField("client_id", oauth.clientID))
        case (_, nil): throw AgentError(.validation, "\(profile.title) requires a client secret, but none is stored.")
        case (.privateKey, let key?):
            fields.append(FormField("client_id", oauth.clientID))
            fields += try assertion(by: key)
        case (.basic, let secret?):
            // Encoded before they are joined, because either may contain a colon (RFC 6749 §2.3.1).
            if namesClientInForm, !fields.contains(where: { $0.name == "client_id" }) {
                fields.append(FormField("client_id", oauth.clientID))
            }
            let pair = Form.encode(oauth.clientID) + ":" + Form.encode(secret.reveal())
            request.headers.append(HTTPField("Authorization", "Basic " + Base64.encode(Array(pair.utf8))))
        case (.post, let secret?):
            fields += [FormField("client_id", oauth.clientID), FormField("client_secret", secret.reveal())]
        }
        request.body = Secret(isJSON ? Self.json(fields) : Form.encode(fields))
        return request
    }

    private static func json(_ fields: [FormField]) -> String {
        var object = JSONObject()
        for field in fields { object[field.name] = .string(field.value) }
        return JSON.object(object).text()
    }

    /// RFC 7523 §2.2.
    private func assertion(by key: Secret) throws(AgentError) -> [FormField] {
        guard let cryptography else { throw AgentError(.unsupported, "This agent cannot sign requests.") }
        let own = oauth.assertionAudience == .issuer ? server.issuer : nil
        guard let audience = own ?? server.endpoints.token else { throw notOffered("tokens") }
        return try ClientAssertion(clientID: oauth.clientID, audience: audience, issuedAt: now, keyID: oauth.keyID)
            .fields(by: key, cryptography)
    }

    private func notOffered(_ what: String) -> AgentError {
        AgentError(.unsupported, "\(profile.title) does not offer \(what).")
    }
}
