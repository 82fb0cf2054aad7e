/// A provider as data: where it is, how requests are built, where answers keep what matters.
///
/// Read from TOML by `AuthProviders`; carried out by ``ProviderExchange``.
package struct ProviderProfile: Sendable, Equatable {
    /// `[a-z0-9][a-z0-9._-]{0,63}`; also the default name of a session at it.
    package var name: String
    package var title: String
    /// "bundled", or the path of the file.
    package var source: String
    package var environments: [ProviderEnvironment]
    package var defaultEnvironment: String
    package var allowInsecureHTTP: Bool
    /// Sent with every request, templates allowed.
    package var headers: [TemplateField]
    /// By name ("password", "register"); the first listed is the default.
    package var signIn: [SignInMethod]
    /// What can be done about the account's password.
    package var password: [PasswordAction: SignInMethod]
    /// Where sign-in and renewal answers keep what matters, unless a method or the renewal says otherwise.
    package var reply: ResponseMap
    package var errors: ErrorMap
    package var user: UserMap
    package var renewal: Renewal
    /// Asks the provider whether the token is still good. `nil`: told from the token's own end.
    package var validation: RequestTemplate?
    /// Fetches the user.
    package var userRequest: UserRequest?
    /// Changes the user.
    package var userUpdate: UserUpdateRequest?
    /// Tells the provider of a sign-out. `nil`: sign-out is local.
    package var signOut: RequestTemplate?
    /// Where signing in and renewal are OAuth's; then ``reply``, ``validation`` and ``signOut`` say nothing.
    package var oauth: OAuthProfile?
    /// Calls of its API, in the order of the file.
    package var endpoints: [Endpoint]
    package var api: APIRules

    package init(
        name: String, title: String, source: String, environments: [ProviderEnvironment], defaultEnvironment: String,
        allowInsecureHTTP: Bool = false, headers: [TemplateField] = [], signIn: [SignInMethod],
        password: [PasswordAction: SignInMethod] = [:], reply: ResponseMap = ResponseMap(),
        errors: ErrorMap = ErrorMap(),
        user: UserMap = UserMap(), renewal: Renewal,
        validation: RequestTemplate? = nil, userRequest: UserRequest? = nil, userUpdate: UserUpdateRequest? = nil,
        signOut: RequestTemplate? = nil, oauth: OAuthProfile? = nil, endpoints: [Endpoint] = [],
        api: APIRules = APIRules()
    ) {
        self.name = name
        self.title = title
        self.source = source
        self.environments = environments
        self.defaultEnvironment = defaultEnvironment
        self.allowInsecureHTTP = allowInsecureHTTP
        self.headers = headers
        self.signIn = signIn
        self.password = password
        self.reply = reply
        self.errors = errors
        self.user = user
        self.renewal = renewal
        self.validation = validation
        self.userRequest = userRequest
        self.userUpdate = userUpdate
        self.signOut = signOut
        self.oauth = oauth
        self.endpoints = endpoints
        self.api = api
    }
}

/// One of the places where a provider runs.
package struct ProviderEnvironment: Sendable, Equatable {
    package var name: String
    /// Without a slash at the end.
    package var baseURL: String

    package init(name: String, baseURL: String) {
        self.name = name
        self.baseURL = baseURL
    }
}
