package import AuthWire

/// The part of a profile for a provider that uses OAuth 2.0.
package struct OAuthProfile: Sendable, Equatable {
    /// Compared exactly (OpenID Connect Discovery 1.0 §4.3, RFC 8414 §3.3); `nil` for a provider without discovery.
    package var issuer: String?
    /// Empty if the provider ``registers`` clients and has not registered us yet.
    package var clientID: String
    /// The first sign-in asks the provider to register the client (RFC 7591).
    package var registers = false
    /// The user names the client at each sign-in.
    package var asksForClient = false
    package var scopes: [String]
    package var clientAuthentication = ClientAuthentication.none
    package var redirect = RedirectTarget.loopback(.usual)
    /// The certificate of the redirect page if it uses TLS; `nil`: the agent makes one for each sign-in.
    package var tlsIdentity: TLSIdentityFiles?
    /// These take precedence over discovered ones.
    package var endpoints = OAuthEndpoints()
    /// Added to every authorization request; some providers define their own (`audience`, `prompt`).
    package var parameters: [FormField] = []
    package var audienceBy = AudienceParameter.resource
    /// The API that the session's own tokens are for (RFC 8707); sent with every request for tokens or consent.
    package var resource: String?
    /// Whether programs may get tokens for one scope or audience. With each of them, some providers revoke the session's
    /// token or narrow its refresh token.
    package var givesTargetedTokens = true
    /// Tokens are bound to a key of ours (RFC 9449), so that no other program can use them.
    package var bindsTokens = false
    /// The audience of client assertions.
    package var assertionAudience = AssertionAudience.issuer
    /// The server's name for our key, if it knows several (RFC 7515 §4.1.4).
    package var keyID: String?
    /// Every authorization request is pushed first (RFC 9126), whatever the server requires.
    package var requiresPushedRequests = false
    /// What deviates from RFC 6749 at the token endpoint.
    package var tokenEndpoint = TokenEndpointRules()

    package init(issuer: String?, clientID: String, scopes: [String] = []) {
        self.issuer = issuer
        self.clientID = clientID
        self.scopes = scopes
    }
}

/// How a token endpoint deviates from RFC 6749, as the provider documents it.
package struct TokenEndpointRules: Sendable, Equatable {
    /// Requests are JSON instead of forms.
    package var acceptsJSON = false
    /// The objects of a response that may have the members of RFC 6749 §5.1: the first one with an access token is used.
    package var tokenObjects: [JSONPointer] = []
    /// Other names of the token type `Bearer`.
    package var bearerTypes: [String] = []
    /// Error codes that end a session, in addition to `invalid_grant`.
    package var finalCodes: [String] = []

    package init() {}
}

extension ProviderProfile {
    /// Far above what any request names.
    private static let maxScopes = 64

    /// The profile with other scopes for the next sign-in; `nil`: its own.
    /// - Throws: `validation` if they are invalid, or if the profile is not for OAuth.
    package func requesting(_ scopes: [String]?) throws(AgentError) -> ProviderProfile {
        guard let scopes else { return self }
        guard oauth != nil else {
            throw AgentError(
                .validation, "\(title) has no scopes: its profile is not for OAuth. Sign in without them.",
                cause: "scopes")
        }
        guard scopes.count <= Self.maxScopes, scopes.allSatisfy(OAuthScope.isOne) else {
            throw .invalidParams("params.scopes: expected at most \(Self.maxScopes) scopes without spaces.")
        }
        var profile = self
        profile.oauth?.scopes = scopes
        profile.resource?.scopes = scopes
        return profile
    }
}

/// How a token for another audience is requested.
package enum AudienceParameter: String, Sendable, Equatable, CaseIterable {
    /// With the refresh token and a resource indicator (RFC 8707).
    case resource
    /// With the refresh token and a parameter that some providers define.
    case audience
    /// In exchange for the session's access token (RFC 8693).
    case exchange
}

/// How the client authenticates at the token endpoint (RFC 6749 §2.3.1). The secret is stored with the session.
package enum ClientAuthentication: String, Sendable, Equatable, CaseIterable {
    /// A public client: it has only an ID.
    case none
    case basic
    case post
    /// With a signature (RFC 7523 §2.2); the key is the secret.
    case privateKey = "private_key_jwt"
}

/// The audience of a client assertion (RFC 7523 §3, 3).
package enum AssertionAudience: String, Sendable, Equatable, CaseIterable {
    /// The issuer, which identifies one server; the token endpoint if there is no issuer.
    case issuer
    /// Some older servers require it.
    case tokenEndpoint = "token_endpoint"
}

/// The client's secrets at an authorization server, for one sign-in or session.
package struct OAuthClient: Sendable {
    package var secret: Secret?
    package var proofKey: Secret?
    /// The guard of the session; `nil` at a sign-in, which follows the profile.
    package private(set) var originGuard: OriginGuard?

    package init(secret: Secret? = nil, proofKey: Secret? = nil) {
        self.secret = secret
        self.proofKey = proofKey
    }

    package init(_ record: SessionRecord) {
        self.init(secret: record.client?.secret ?? record.clientSecret, proofKey: record.tokens.proofKey)
        originGuard = OriginGuard(record)
    }
}

/// The endpoints of an authorization server (RFC 8414 §2).
package struct OAuthEndpoints: Sendable, Equatable {
    package var authorization: String?
    package var token: String?
    package var deviceAuthorization: String?
    package var userInfo: String?
    package var revocation: String?
    /// RFC 7662.
    package var introspection: String?
    package var endSession: String?
    /// The keys that sign ID tokens.
    package var keys: String?
    /// RFC 9126.
    package var pushedAuthorization: String?
    /// RFC 7591.
    package var registration: String?

    package init() {}

    /// These endpoints, with those of `other` where these are not set.
    package func completed(by other: OAuthEndpoints) -> OAuthEndpoints {
        var completed = self
        for (_, path) in Self.names { completed[keyPath: path] = self[keyPath: path] ?? other[keyPath: path] }
        return completed
    }

    /// Their names in metadata (RFC 8414 §2, RFC 8628 §4, RFC 9126 §5, OpenID Connect Discovery 1.0 §3) and in profiles.
    package static var names: [(name: String, path: WritableKeyPath<OAuthEndpoints, String?>)] {
        [
            ("authorization_endpoint", \.authorization), ("token_endpoint", \.token),
            ("device_authorization_endpoint", \.deviceAuthorization), ("userinfo_endpoint", \.userInfo),
            ("revocation_endpoint", \.revocation), ("introspection_endpoint", \.introspection),
            ("end_session_endpoint", \.endSession), ("jwks_uri", \.keys),
            ("pushed_authorization_request_endpoint", \.pushedAuthorization),
            ("registration_endpoint", \.registration),
        ]
    }
}

package enum OAuthFlow: String, Sendable, Equatable {
    /// In a browser on this machine that returns by itself (RFC 6749 §4.1, RFC 7636, RFC 8252).
    case browser
    /// In any browser; the user pastes its last address.
    case paste
    /// With a code that the user types on any device (RFC 8628).
    case device
    /// With a refresh token that another program obtained (RFC 6749 §6).
    case importing = "import"
    /// As the client itself, without a user (RFC 6749 §4.4).
    case service
}
