package import AuthWire

/// One trip of a person's browser to an authorization server and back: what was sent along, and what has to come back.
package struct AuthorizationAttempt: Sendable {
    /// What came back.
    package enum Answer: Sendable, Equatable {
        case code(Secret)
        /// The server's no, or an answer that cannot be its own.
        case refused(AgentError)
        /// Not of this sign-in: anybody on this machine can call a loopback address.
        case unrelated
    }

    /// A person at a login page; the listener is closed then.
    package static let timeout = Duration.seconds(300)

    package let redirectURI: String
    /// RFC 7636 §4.1.
    package let verifier: Secret
    /// Bound to the ID token (OpenID Connect Core 1.0 §3.1.2.1).
    package let nonce: String
    /// What the person opens.
    package private(set) var url: String
    /// The request for authorization, which may be pushed to the server before (RFC 9126 §2.1).
    let request: [FormField]
    private let endpoint: String
    private let clientID: String
    private let state: String
    private let title: String
    private let issuer: String?
    private let identifiesIssuer: Bool

    /// - Parameter proofKey: what the tokens that come of it will be bound to; then the code is too (RFC 9449 §10).
    /// - Throws: `unsupported` where the server has no such endpoint, or takes no S256 challenges.
    package init(
        profile: ProviderProfile, oauth: OAuthProfile, server: OAuthServer, redirectURI: String,
        proofKey: Secret? = nil, cryptography: any Cryptography
    ) throws(AgentError) {
        guard let endpoint = server.endpoints.authorization else {
            throw AgentError(.unsupported, "\(profile.title) does not offer sign-in by a browser.")
        }
        if let methods = server.challengeMethods, !methods.contains("S256") {
            throw AgentError(.unsupported, "\(profile.title) does not take S256 challenges (RFC 7636).")
        }
        let verifier = Base64URL.random()
        (state, nonce) = (Base64URL.random(), Base64URL.random())
        self.verifier = Secret(verifier)
        self.redirectURI = redirectURI
        title = profile.title
        issuer = server.issuer
        identifiesIssuer = server.identifiesIssuer
        var fields = [
            FormField("response_type", "code"), FormField("client_id", oauth.clientID),
            FormField("redirect_uri", redirectURI), FormField("state", state),
            FormField("code_challenge", Self.challenge(verifier, cryptography)),
            FormField("code_challenge_method", "S256"),
        ]
        if !oauth.scopes.isEmpty { fields.append(FormField("scope", oauth.scopes.joined(separator: " "))) }
        if oauth.scopes.contains("openid") { fields.append(FormField("nonce", nonce)) }
        if let resource = oauth.resource { fields.append(FormField("resource", resource)) }
        if let key = proofKey.flatMap(cryptography.publicKey) {
            fields.append(FormField("dpop_jkt", key.thumbprint(cryptography)))
        }
        request = fields + oauth.parameters
        self.endpoint = endpoint
        clientID = oauth.clientID
        url = Self.address(endpoint, request)
    }

    /// The server has the request by this name now (RFC 9126 §4).
    package mutating func pushed(as name: String) {
        url = Self.address(endpoint, [FormField("client_id", clientID), FormField("request_uri", name)])
    }

    private static func address(_ endpoint: String, _ fields: [FormField]) -> String {
        endpoint + (endpoint.contains("?") ? "&" : "?") + Form.encode(fields)
    }

    /// RFC 7636 §4.2.
    package static func challenge(_ verifier: String, _ cryptography: any Cryptography) -> String {
        Base64URL.encode(cryptography.hash(Array(verifier.utf8), by: .sha256))
    }

    /// Reads the query that the browser came back with.
    package func read(_ query: String) -> Answer {
        guard let fields = Form.decode(query),
            fields.contains(where: { $0.name == "state" && Secret($0.value) == Secret(state) })
        else { return .unrelated }
        // Each comes once at most (RFC 6749 §3.1). Of two, the one that is checked may not be the one that is used.
        if let name = ["state", "iss", "code", "error"].first(where: { name in
            fields.count(where: { $0.name == name }) > 1
        }) {
            return .refused(
                AgentError(
                    .badReply, "The answer of \(title) has \(name) more than once.", cause: "repeated_\(name)",
                    retryable: false))
        }
        // A mix-up: the answer is some other server's (RFC 9207 §2.4).
        let named = fields["iss"]
        if let issuer, named != nil || identifiesIssuer, named.map({ !$0.utf8.elementsEqual(issuer.utf8) }) ?? true {
            return .refused(
                AgentError(
                    .badReply,
                    "The answer is not that of \(title): it "
                        + (named.flatMap(ProviderText.clean).map { "names \($0)." } ?? "does not say whose it is."),
                    cause: "iss", retryable: false))
        }
        if let error = fields["error"] { return .refused(refusal(error, fields["error_description"])) }
        guard let code = fields["code"], !code.isEmpty else {
            return .refused(AgentError(.badReply, "\(title) sent no code back.", cause: "no_code"))
        }
        return .code(Secret(code))
    }

    /// What a person copied out of the browser's address line: the address, or its query alone.
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
                .providerError, "\(title) has trouble of its own; try again later.", cause: cause,
                providerMessage: message)
        default:
            return AgentError(
                .refused, "\(title) refused the sign-in.", cause: cause, providerMessage: message)
        }
    }
}
