/// What a profile says of a provider that speaks OAuth 2.0: who we are there, and where it is.
package struct OAuthProfile: Sendable, Equatable {
    /// Its own name for itself, compared exactly (OpenID Connect Discovery 1.0 §4.3, RFC 8414 §3.3); `nil` for a
    /// provider without discovery.
    package var issuer: String?
    /// Empty where the provider ``registers`` us and has not done so yet.
    package var clientID: String
    /// Nobody has told the provider of us: it is asked to register us at the first sign-in (RFC 7591).
    package var registers: Bool
    package var scopes: [String]
    package var clientAuthentication: ClientAuthentication
    package var redirect: RedirectTarget
    /// By what its page is known, where it is reached by TLS; `nil`: by what the agent makes for each sign-in.
    package var tlsIdentity: TLSIdentityFiles?
    /// What the profile says of them goes before what is discovered.
    package var endpoints: OAuthEndpoints
    /// Sent along with every authorization request; providers have words of their own there (`audience`, `prompt`).
    package var parameters: [FormField]
    package var audienceBy: AudienceParameter
    /// The API that the session's own tokens are for (RFC 8707): requested wherever tokens or consent are.
    package var resource: String?
    /// Whether programs may have tokens for one scope or audience. Some providers revoke the session's token or narrow
    /// its refresh token with each of them.
    package var givesTargetedTokens: Bool
    /// Its tokens are to be bound to a key of ours (RFC 9449), so that nobody else can use them.
    package var bindsTokens: Bool
    /// For whom a client's own word is, where it proves by a key who it is.
    package var assertionAudience: AssertionAudience
    /// The server's name for that key, where it knows several (RFC 7515 §4.1.4).
    package var keyID: String?
    /// No request for authorization goes by the browser that was not pushed before (RFC 9126), whatever the server says.
    package var requiresPushedRequests: Bool

    package init(
        issuer: String?, clientID: String, registers: Bool = false, scopes: [String] = [],
        clientAuthentication: ClientAuthentication = .none, redirect: RedirectTarget = .loopback(.usual),
        tlsIdentity: TLSIdentityFiles? = nil,
        endpoints: OAuthEndpoints = OAuthEndpoints(),
        parameters: [FormField] = [], audienceBy: AudienceParameter = .resource, resource: String? = nil,
        givesTargetedTokens: Bool = true, bindsTokens: Bool = false,
        assertionAudience: AssertionAudience = .issuer, keyID: String? = nil,
        requiresPushedRequests: Bool = false
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.registers = registers
        self.scopes = scopes
        self.clientAuthentication = clientAuthentication
        self.redirect = redirect
        self.tlsIdentity = tlsIdentity
        self.endpoints = endpoints
        self.parameters = parameters
        self.audienceBy = audienceBy
        self.resource = resource
        self.givesTargetedTokens = givesTargetedTokens
        self.bindsTokens = bindsTokens
        self.assertionAudience = assertionAudience
        self.keyID = keyID
        self.requiresPushedRequests = requiresPushedRequests
    }
}

/// How a token for another audience is asked for.
package enum AudienceParameter: String, Sendable, Equatable, CaseIterable {
    /// By the refresh token, with a resource indicator (RFC 8707).
    case resource
    /// By the refresh token, with a parameter that some providers have of their own.
    case audience
    /// In exchange for the session's own access token (RFC 8693).
    case exchange
}

/// How the token endpoint knows that it is us (RFC 6749 §2.3.1). The secret is with the session, in the store.
package enum ClientAuthentication: String, Sendable, Equatable, CaseIterable {
    /// A public client: its name is all there is.
    case none
    case basic
    case post
    /// By what only the holder of a key can sign (RFC 7523 §2.2); that key is the secret.
    case privateKey = "private_key_jwt"
}

/// Whom a client names as the reader of its own word (RFC 7523 §3, 3).
package enum AssertionAudience: String, Sendable, Equatable, CaseIterable {
    /// The server's own name, which no other server can be taken for; the token endpoint where it has none.
    case issuer
    /// As older servers want it.
    case tokenEndpoint = "token_endpoint"
}

/// What we have at an authorization server besides our name, for one sign-in or one session.
package struct OAuthClient: Sendable {
    /// As ``SessionRecord/clientSecret``.
    package var secret: Secret?
    /// As ``TokenSet/proofKey``.
    package var proofKey: Secret?
    /// Of the session that asks; `nil` at a sign-in, which goes to where the profile says.
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

/// The addresses of an authorization server (RFC 8414 §2).
package struct OAuthEndpoints: Sendable, Equatable {
    package var authorization: String?
    package var token: String?
    package var deviceAuthorization: String?
    package var userInfo: String?
    package var revocation: String?
    /// RFC 7662.
    package var introspection: String?
    package var endSession: String?
    /// Of the keys that sign ID tokens.
    package var keys: String?
    /// RFC 9126.
    package var pushedAuthorization: String?
    /// RFC 7591.
    package var registration: String?

    package init(
        authorization: String? = nil, token: String? = nil, deviceAuthorization: String? = nil,
        userInfo: String? = nil, revocation: String? = nil, introspection: String? = nil, endSession: String? = nil,
        keys: String? = nil,
        pushedAuthorization: String? = nil, registration: String? = nil
    ) {
        self.authorization = authorization
        self.token = token
        self.deviceAuthorization = deviceAuthorization
        self.userInfo = userInfo
        self.revocation = revocation
        self.introspection = introspection
        self.endSession = endSession
        self.keys = keys
        self.pushedAuthorization = pushedAuthorization
        self.registration = registration
    }

    /// These, and the others' where these say nothing.
    package func completed(by other: OAuthEndpoints) -> OAuthEndpoints {
        OAuthEndpoints(
            authorization: authorization ?? other.authorization, token: token ?? other.token,
            deviceAuthorization: deviceAuthorization ?? other.deviceAuthorization,
            userInfo: userInfo ?? other.userInfo, revocation: revocation ?? other.revocation,
            introspection: introspection ?? other.introspection, endSession: endSession ?? other.endSession,
            keys: keys ?? other.keys,
            pushedAuthorization: pushedAuthorization ?? other.pushedAuthorization,
            registration: registration ?? other.registration)
    }

    /// Each with its name in metadata (RFC 8414 §2, RFC 8628 §4, RFC 9126 §5, OpenID Connect Discovery 1.0 §3) and in profiles.
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

/// A way to sign in by OAuth.
package enum OAuthFlow: String, Sendable, Equatable {
    /// In a browser on this machine, which comes back by itself (RFC 6749 §4.1, RFC 7636, RFC 8252).
    case browser
    /// The same in any browser, whose last address a person brings back.
    case paste
    /// With a code that a person types on any device (RFC 8628).
    case device
    /// With a refresh token that somebody else got and gives up (RFC 6749 §6).
    case importing = "import"
    /// As the client itself, without a person (RFC 6749 §4.4).
    case service
}
