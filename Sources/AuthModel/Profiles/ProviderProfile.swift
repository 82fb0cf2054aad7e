package import AuthWire

/// A provider as data: where it is, how requests are built, and where responses contain what is needed.
///
/// Read from TOML by `AuthProviders`.
package struct ProviderProfile: Sendable, Equatable {
    /// `[a-z0-9][a-z0-9._-]{0,63}`; also the default name of its session.
    package var name: String
    package var title: String
    /// "bundled", "url" (``generatedSource``), or the path of the file.
    package var source: String
    package var environments: [ProviderEnvironment]
    package var defaultEnvironment: String
    /// Beside the environments' own.
    package var hosts: [ProviderHost] = []
    package var allowInsecureHTTP = false
    /// Sessions keep the provider's cookies.
    package var keepsCookies = false
    /// Sent with every request; may contain placeholders.
    package var headers: [TemplateField] = []
    package var tokenPlace = TokenPlace.standard
    /// For `provider.check`.
    package var notes: [ProfileNote] = []
    /// The first one is the default.
    package var signIn: [SignInMethod]
    /// Requests about the account's password.
    package var password: [PasswordAction: SignInMethod] = [:]
    /// How sign-in and renewal responses are read, unless a method or the renewal overrides it.
    package var reply = ResponseMap()
    package var errors = ErrorMap()
    package var user = UserMap()
    package var renewal: Renewal
    /// Asks the provider whether the token is valid. `nil`: the token's expiry decides.
    package var validation: RequestTemplate?
    package var userRequest: UserRequest?
    package var userUpdate: UserUpdateRequest?
    /// Reports a sign-out to the provider. `nil`: sign-out is local.
    package var signOut: RequestTemplate?
    /// Which response to it is a success; `nil`: any 2xx.
    package var signOutSuccess: ResponseRule?
    /// If set, OAuth defines sign-in and renewal, and ``reply``, ``validation`` and ``signOut`` are not used.
    package var oauth: OAuthProfile?
    /// Calls of its API, in the order of the file.
    package var endpoints: [Endpoint] = []
    package var api = APIRules()
    /// What the profile was generated from; `nil` if it was read from a file.
    package var resource: ProtectedResource?

    package init(
        name: String, title: String, source: String, environments: [ProviderEnvironment], defaultEnvironment: String,
        signIn: [SignInMethod], renewal: Renewal
    ) {
        self.name = name
        self.title = title
        self.source = source
        self.environments = environments
        self.defaultEnvironment = defaultEnvironment
        self.signIn = signIn
        self.renewal = renewal
    }
}

/// Another host that requests may name.
package struct ProviderHost: Sendable, Equatable {
    package var name: String
    /// By environment, without a trailing slash; under `nil` for all of them.
    package var addresses: [String?: String]

    package init(name: String, addresses: [String?: String]) {
        self.name = name
        self.addresses = addresses
    }
}

/// A deployment of a provider.
package struct ProviderEnvironment: Sendable, Equatable {
    package var name: String
    /// Without a trailing slash.
    package var baseURL: String { didSet { origin = Origin(of: baseURL) } }
    /// The origin of ``baseURL``, if it has one: stored, because each session needs it several times.
    package private(set) var origin: Origin?

    package init(name: String, baseURL: String) {
        self.name = name
        self.baseURL = baseURL
        origin = Origin(of: baseURL)
    }

    /// The origin of an address, which is usually the base URL of this environment.
    package func origin(of address: String) -> Origin? { address == baseURL ? origin : Origin(of: address) }
}
