package import AuthWire

/// A protected resource that a user signed in to by its URL: what discovery found, and who the client is. It is stored with
/// the session, and a profile is generated from it.
package struct ProtectedResource: Sendable, Equatable {
    /// Where the client comes from.
    package enum ClientSource: String, Sendable, CaseIterable {
        /// The user has registered it.
        case user
        /// Its ID is the address of its metadata.
        case document
        /// The server registers it (RFC 7591).
        case registration
    }

    /// ``ResourceURL/text``. It is also the name of the profile.
    package var url: String
    /// The resource indicator (RFC 8707).
    package var identifier: String
    /// As the server's own metadata spells it.
    package var issuer: String
    /// Requested at sign-in.
    package var scopes: [String]
    package var clientSource: ClientSource
    /// Empty if the client is registered by the server, or if the user has not named it yet.
    package var clientID: String
    /// If the client has a secret.
    package var clientAuthentication: ClientAuthentication
    /// The session whose sign-in is used: its refresh token renews this one. `nil`: the session has its own sign-in.
    package var sharedSession: SessionName?
    /// The sign-in that this session had when it was shared; `nil` if an older authd wrote the record.
    package var sharedSignIn: SignInID?

    package init(
        url: String, identifier: String, issuer: String, scopes: [String] = [],
        clientSource: ClientSource = .registration, clientID: String = "",
        clientAuthentication: ClientAuthentication = .none
    ) {
        self.url = url
        self.identifier = identifier
        self.issuer = issuer
        self.scopes = scopes
        self.clientSource = clientSource
        self.clientID = clientID
        self.clientAuthentication = clientAuthentication
    }

    /// Whether a token that was requested with the sign-in of another resource may be sent to this one: it is for this resource
    /// and not for the other one, or one URL's path begins with the other's whole segments. Different paths of one host may
    /// belong to different tenants.
    package func accepts(_ token: Secret, from source: ProtectedResource) -> Bool {
        if let mine = try? ResourceURL(url), let other = try? ResourceURL(source.url),
            mine.isCovered(by: other.text) || other.isCovered(by: mine.text)
        {
            return true
        }
        let audiences = JWTClaims.audiences(of: token)
        return audiences.contains(identifier) && !audiences.contains(source.identifier)
    }

    /// Selects the client.
    /// - Parameters:
    ///   - document: the address of our Client ID Metadata Document, if the user hosts one.
    ///   - namesClient: the user has named a client.
    package mutating func selectClient(at server: OAuthServer, document: String?, namesClient: Bool) {
        let supported = server.authenticationMethods
        func supports(_ method: String) -> Bool { supported?.contains(method) ?? true }
        let withSecret: ClientAuthentication =
            !supports("client_secret_basic") && supports("client_secret_post") ? .post : .basic
        if !namesClient, let document, server.acceptsClientDocuments {
            (clientSource, clientID, clientAuthentication) = (.document, document, .none)
        } else if !namesClient, server.endpoints.registration != nil {
            (clientSource, clientID) = (.registration, "")
            let isPublic = supports("none") || !(supports("client_secret_basic") || supports("client_secret_post"))
            clientAuthentication = isPublic ? .none : withSecret
        } else {
            (clientSource, clientID, clientAuthentication) = (.user, "", withSecret)
        }
    }
}

extension ProtectedResource: WireObject {
    package init(blank: Blank) { self.init(url: "", identifier: "", issuer: "") }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("url", &url, .string)
        try visitor.required("identifier", &identifier, .string)
        try visitor.required("issuer", &issuer, .string)
        try visitor.required("scopes", &scopes, .strings)
        try visitor.required("client_source", &clientSource, .word)
        try visitor.required("client_id", &clientID, .string)
        try visitor.required("client_authentication", &clientAuthentication, .word)
        try visitor.optional("shared_session", &sharedSession, .sessionName)
        try visitor.optional("shared_sign_in", &sharedSignIn, .signIn)
    }

    package func validate() throws(AgentError) {
        guard Origin(of: url) != nil else { throw .internalError("'url' is not a URL") }
    }
}

extension ProviderProfile {
    /// The source of a generated profile.
    package static let generatedSource = "url"
    /// The only environment of a generated profile.
    package static let generatedEnvironment = "default"

    /// The profile of a resource that was signed in to by its URL.
    package init(_ resource: ProtectedResource) {
        var oauth = OAuthProfile(issuer: resource.issuer, clientID: resource.clientID, scopes: resource.scopes)
        oauth.registers = resource.clientSource == .registration
        oauth.asksForClient = resource.clientSource == .user && resource.clientID.isEmpty
        oauth.clientAuthentication = resource.clientAuthentication
        oauth.resource = resource.identifier
        let host = Origin(of: resource.url).map { String($0.text.drop { $0 != "/" }.dropFirst(2)) }
        self.init(
            name: resource.url, title: host ?? resource.url, source: Self.generatedSource,
            environments: [ProviderEnvironment(name: Self.generatedEnvironment, baseURL: resource.url)],
            defaultEnvironment: Self.generatedEnvironment, signIn: oauth.methods, renewal: Renewal(kind: .refresh))
        user = OAuthProfile.user
        self.oauth = oauth
        self.resource = resource
    }

    /// The profile with the client that the user has named.
    /// - Parameter hasSecret: whether the user has given its secret.
    package func withClient(_ id: Secret?, hasSecret: Bool) -> ProviderProfile {
        guard oauth?.asksForClient == true, let id else { return self }
        var profile = self
        profile.oauth?.clientID = id.reveal()
        profile.resource?.clientID = id.reveal()
        if !hasSecret {
            profile.oauth?.clientAuthentication = .none
            profile.resource?.clientAuthentication = .none
        }
        return profile
    }
}
