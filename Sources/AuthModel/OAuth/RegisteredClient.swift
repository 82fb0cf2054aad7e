package import AuthWire

/// The client that a provider has registered for us (RFC 7591 §3.2.1).
package struct RegisteredClient: Sendable, Equatable {
    /// Where the registration can be read (RFC 7592 §2.1), and the token for that.
    package struct Management: Sendable, Equatable {
        package let url: String
        package let token: Secret
    }

    /// What was requested at registration. If the profile differs, the client must be registered again.
    package struct Request: Sendable, Equatable {
        /// With the port that was bound: many servers compare it exactly.
        package let redirectURI: String
        package let scopes: [String]
        package let authentication: ClientAuthentication
        package let bindsTokens: Bool
    }

    /// The server that registered it; another server of the same profile does not know it.
    package var issuer: String
    package var id: String
    package var authentication: ClientAuthentication
    package var secret: Secret?
    /// `nil`: the secret does not expire.
    package var secretEndsAt: WallTime?
    package var place: Management?
    /// `nil`: an older authd registered it, without a port.
    package var request: Request?

    private static let longestID = 1024

    /// Reads a registration response.
    /// - Throws: what is missing.
    package init(_ json: JSON, issuer: String, mayBeInsecure: Bool) throws(MetadataError) {
        guard let id = json["client_id"]?.stringValue, !id.isEmpty, id.utf8.count <= Self.longestID,
            id.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw MetadataError(reason: "it has no client ID") }
        self.issuer = issuer
        self.id = id
        secret = json["client_secret"]?.stringValue.flatMap { $0.isEmpty ? nil : Secret($0) }
        let end = json["client_secret_expires_at"]?.doubleValue ?? 0
        secretEndsAt = end > 0 && TokenLifetimeDecoder.dates.contains(end) ? WallTime(unixSeconds: end) : nil
        switch json["token_endpoint_auth_method"]?.stringValue {
        case "none": authentication = .none
        case "client_secret_post": authentication = .post
        // The default (RFC 7591 §2); a client without a secret cannot use it.
        case "client_secret_basic", nil: authentication = secret == nil ? .none : .basic
        case let other?:
            throw MetadataError(reason: "it requires the authentication method \(ProviderText.clean(other) ?? "none")")
        }
        guard authentication == .none || secret != nil else { throw MetadataError(reason: "it has no client secret") }
        if let url = json["registration_client_uri"]?.stringValue,
            OAuthServer.mayName(url, of: issuer, mayBeInsecure: mayBeInsecure),
            let token = json["registration_access_token"]?.stringValue
        {
            place = Management(url: url, token: Secret(token))
        }
    }

    /// Whether the server and the profile match, and the secret stays valid during a sign-in.
    package func isUsable(at issuer: String, for oauth: OAuthProfile, _ now: WallTime) -> Bool {
        guard let request, let redirect = RedirectTarget(request.redirectURI), redirect.isOne(of: oauth.redirect),
            Set(request.scopes) == Set(oauth.scopes), request.authentication == oauth.clientAuthentication,
            request.bindsTokens == oauth.bindsTokens
        else { return false }
        return self.issuer.utf8.elementsEqual(issuer.utf8)
            && (secretEndsAt.map { now + AuthorizationAttempt.timeout < $0 } ?? true)
    }
}

/// Stored with the session, and separately.
extension RegisteredClient: WireObject {
    package init(blank: Blank) {
        (issuer, id, authentication) = ("", "", .none)
    }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("issuer", &issuer, .string)
        try visitor.required("id", &id, .string)
        try visitor.required("authentication", &authentication, .word)
        // Invalid ones, or words that only a newer authd knows, do not make the session unreadable.
        try visitor.optional("secret", &secret, .secret.ignoringInvalid)
        try visitor.optional("secret_ends_at", &secretEndsAt, .date.ignoringInvalid)
        var (url, token) = (place?.url, place?.token)
        try visitor.optional("place", &url, .string.ignoringInvalid)
        try visitor.optional("place_token", &token, .secret.ignoringInvalid)
        place = url.flatMap { url in token.map { Management(url: url, token: $0) } }
        var (redirect, scopes) = (request?.redirectURI, request?.scopes)
        var (requested, binds) = (request?.authentication, request?.bindsTokens)
        try visitor.optional("redirect", &redirect, .string.ignoringInvalid)
        try visitor.optional("scopes", &scopes, .strings.ignoringInvalid)
        try visitor.optional("requested_authentication", &requested, .word.ignoringInvalid)
        try visitor.optional("binds_tokens", &binds, .bool.ignoringInvalid)
        request =
            if let redirect, let scopes, let requested, let binds {
                Request(redirectURI: redirect, scopes: scopes, authentication: requested, bindsTokens: binds)
            } else { nil }
    }

    package func validate() throws(AgentError) {
        guard !id.isEmpty else { throw .internalError("'id' is empty") }
    }
}

extension RegisteredClient.Request {
    package init(_ oauth: OAuthProfile) {
        self.init(
            redirectURI: oauth.redirect.uri, scopes: oauth.scopes, authentication: oauth.clientAuthentication,
            bindsTokens: oauth.bindsTokens)
    }
}

extension OAuthProfile {
    /// The registration request (RFC 7591 §2).
    /// - Parameter grants: the grants that the client asks for.
    package func registrationRequest(grants: [String] = ClientMetadata.grants) -> JSON {
        let authentication =
            switch clientAuthentication {
            case .none, .privateKey: "none"
            case .basic: "client_secret_basic"
            case .post: "client_secret_post"
            }
        var object = ClientMetadata.members(
            redirectURI: redirect.uri, grants: grants, authentication: authentication)
        if !scopes.isEmpty { object["scope"] = .string(scopes.joined(separator: " ")) }
        // RFC 9449 §5.2.
        if bindsTokens { object["dpop_bound_access_tokens"] = true }
        return .object(object)
    }
}

extension ProviderProfile {
    /// The profile with the registered client.
    package func known(as client: RegisteredClient?) -> ProviderProfile {
        guard let client, oauth != nil else { return self }
        var profile = self
        profile.oauth?.clientID = client.id
        profile.oauth?.clientAuthentication = client.authentication
        if let redirect = client.request.flatMap({ RedirectTarget($0.redirectURI) }) {
            profile.oauth?.redirect = redirect
        }
        return profile
    }
}
