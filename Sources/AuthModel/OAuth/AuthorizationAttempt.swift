package import AuthWire

/// One authorization request through the user's browser: what is sent, and what must come back.
package struct AuthorizationAttempt: Sendable {
    package enum Answer: Sendable, Equatable {
        case code(Secret)
        /// The server's refusal, or a response that cannot come from this server.
        case refused(AgentError)
        /// It does not belong to this sign-in: any local program can call a loopback address.
        case unrelated
    }

    /// Time for the user at the login page. After it, the listener is closed.
    package static let timeout = Duration.seconds(300)

    /// The parts of a request that are made for one attempt.
    struct Values: Sendable {
        /// For the verifier: S256 (RFC 7636 §4.2).
        let challenge: String
        let state: String
        let nonce: String?
        /// The key that the tokens will be bound to (RFC 9449 §10).
        let thumbprint: String?
    }

    package private(set) var redirectURI: String
    /// RFC 7636 §4.1. Empty if another agent keeps it.
    package let verifier: Secret
    let values: Values
    /// The address that the user opens.
    package private(set) var url: String
    /// How long the server keeps the pushed request; `nil`: unknown, or not pushed.
    package private(set) var pushedLifetime: Duration?
    /// The authorization request. It may be pushed to the server first (RFC 9126 §2.1).
    let request: [FormField]
    let endpoint: String
    let clientID: String
    let scopes: [String]
    let issuer: String?
    private let title: String
    private let tenants: TenantIssuer?
    private let identifiesIssuer: Bool

    private var state: String { values.state }
    /// Bound to the ID token (OpenID Connect Core 1.0 §3.1.2.1).
    package var nonce: String? { values.nonce }

    /// - Parameter proofKey: the key that the tokens will be bound to; the code is then bound to it too (RFC 9449 §10).
    /// - Throws: `unsupported` if the server has no such endpoint or does not support S256.
    package init(
        profile: ProviderProfile, oauth: OAuthProfile, server: OAuthServer, redirectURI: String,
        proofKey: Secret? = nil, cryptography: any Cryptography
    ) throws(AgentError) {
        let verifier = Base64URL.random()
        let values = Values(
            challenge: Self.challenge(verifier, cryptography), state: Base64URL.random(), nonce: Base64URL.random(),
            thumbprint: proofKey.flatMap(cryptography.publicKey)?.thumbprint(cryptography))
        try self.init(
            profile: profile, oauth: oauth, server: server, redirectURI: redirectURI, verifier: Secret(verifier),
            values: values)
    }

    init(
        profile: ProviderProfile, oauth: OAuthProfile, server: OAuthServer, redirectURI: String, verifier: Secret,
        values: Values
    ) throws(AgentError) {
        guard let endpoint = server.endpoints.authorization else {
            throw AgentError(.unsupported, "\(profile.title) does not support sign-in in a browser.")
        }
        if let methods = server.challengeMethods, !methods.contains("S256") {
            throw AgentError(.unsupported, "\(profile.title) does not support S256 challenges (RFC 7636).")
        }
        self.verifier = verifier
        self.values = values
        self.redirectURI = redirectURI
        title = profile.title
        issuer = server.issuer
        tenants = server.tenants
        identifiesIssuer = server.identifiesIssuer
        var fields = [
            FormField("response_type", "code"), FormField("client_id", oauth.clientID),
            FormField("redirect_uri", redirectURI), FormField("state", values.state),
            FormField("code_challenge", values.challenge), FormField("code_challenge_method", "S256"),
        ]
        if !oauth.scopes.isEmpty { fields.append(FormField("scope", oauth.scopes.joined(separator: " "))) }
        if oauth.scopes.contains("openid"), let nonce = values.nonce { fields.append(FormField("nonce", nonce)) }
        if let resource = oauth.resource { fields.append(FormField("resource", resource)) }
        if let thumbprint = values.thumbprint { fields.append(FormField("dpop_jkt", thumbprint)) }
        request = fields + oauth.parameters
        self.endpoint = endpoint
        clientID = oauth.clientID
        scopes = oauth.scopes
        url = Self.address(endpoint, request)
    }

    /// The server has stored the request under this name (RFC 9126 §4).
    package mutating func pushed(as name: String, lifetime: Duration?) {
        pushedLifetime = lifetime
        url = Self.address(endpoint, [FormField("client_id", clientID), FormField("request_uri", name)])
    }

    /// The browser of another agent has come back to this address.
    package mutating func returned(to redirectURI: String) { self.redirectURI = redirectURI }

    private static func address(_ endpoint: String, _ fields: [FormField]) -> String {
        endpoint + (endpoint.contains("?") ? "&" : "?") + Form.encode(fields)
    }

    /// RFC 7636 §4.2.
    package static func challenge(_ verifier: String, _ cryptography: any Cryptography) -> String {
        Base64URL.encode(cryptography.hash(Array(verifier.utf8), by: .sha256))
    }

    /// Reads the query of the redirect.
    package func read(_ query: String) -> Answer {
        guard let fields = Form.decode(query),
            fields.contains(where: { $0.name == "state" && Secret($0.value) == Secret(state) })
        else { return .unrelated }
        // Each parameter may occur once (RFC 6749 §3.1): the value that is checked must be the one that is used.
        if let name = ["state", "iss", "code", "error"].first(where: { name in
            fields.count(where: { $0.name == name }) > 1
        }) {
            return .refused(
                AgentError(
                    .badReply, "The response of \(title) contains \(name) more than once.", cause: "repeated_\(name)",
                    retryable: false))
        }
        // A mix-up attack: the response comes from another server (RFC 9207 §2.4).
        let named = fields["iss"]
        if let issuer, named != nil || identifiesIssuer,
            named.map({ !(tenants?.includes($0) ?? $0.utf8.elementsEqual(issuer.utf8)) }) ?? true
        {
            return .refused(
                AgentError(
                    .badReply,
                    "The response does not come from \(title): it "
                        + (named.flatMap(ProviderText.clean).map { "names \($0)." } ?? "names no issuer."),
                    cause: "iss", retryable: false))
        }
        if let error = fields["error"] { return .refused(refusal(error, fields["error_description"])) }
        guard let code = fields["code"], !code.isEmpty else {
            return .refused(AgentError(.badReply, "\(title) returned no code.", cause: "no_code"))
        }
        return .code(Secret(code))
    }

    /// Reads what the user copied from the browser's address bar: the address, or only its query.
    package func read(address: String) -> Answer {
        let query = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).last ?? ""
        return read(String(query.prefix { $0 != "#" }))
    }

    /// RFC 6749 §4.1.2.1.
    private func refusal(_ code: String, _ words: String?) -> AgentError {
        let cause = ProviderText.clean(code)
        let message = words.flatMap(ProviderText.clean)
        switch code {
        case "access_denied":
            return AgentError(
                .denied, "The sign-in was refused at \(title).", cause: cause, providerMessage: message)
        case "temporarily_unavailable", "server_error":
            return AgentError(
                .providerError, "\(title) has a temporary failure; try again later.", cause: cause,
                providerMessage: message)
        default:
            return AgentError(
                .refused, "\(title) refused the sign-in.", cause: cause, providerMessage: message)
        }
    }
}
