import AuthConnection
import AuthWire

/// What the user wants: a sign-in, or a change of a password.
enum SignInRequestOptions {
    /// - Parameters:
    ///   - provider: a provider, or the URL of a protected resource.
    ///   - share: with a URL, whether another session's sign-in may be used.
    case signIn(
        provider: String, environment: String?, method: String?, scopes: [String], remember: Bool, share: Bool)
    /// Without a provider, for a session.
    case password(PasswordVerb, provider: String?, environment: String?)

    enum PasswordVerb: String {
        case set
        case change
        case requestReset = "request_reset"
        case reset
    }

    /// With this method, the browser is on this machine, whatever the environment says.
    private static let browserMethod = "browser"

    /// The beginning of the message about a method that the provider does not have.
    static let methodOption = "--method:"

    static func isURL(_ provider: String) -> Bool { provider.contains("://") }

    /// What a sign-in to a URL may ask for.
    private static let urlFields = [
        StepField(name: "client_id", label: "Client ID"),
        StepField(name: "client_secret", label: "Client secret", secret: true, optional: true),
        StepField(name: "refresh_token", label: "Refresh token", secret: true, optional: true),
    ]

    /// - Parameters:
    ///   - replaces: ends another sign-in to the session that is in progress.
    ///   - replacesAccount: gives the session to another account without asking.
    ///   - borrows: uses the browser of another machine.
    ///   - timeout: limits the wait for a network, too, if the profile says to wait.
    func request(
        _ session: SessionName?, fields: [String: String], replaces: Bool, replacesAccount: Bool, borrows: Bool,
        timeout: Duration?
    ) -> any AgentMethod<Step> {
        switch self {
        case .signIn(let provider, let environment, let method, let scopes, let remember, let share):
            let isURL = Self.isURL(provider)
            return LoginStart(
                provider: isURL ? "" : provider, url: isURL ? provider : nil, session: session,
                environment: environment, method: method, scopes: scopes.isEmpty ? nil : scopes, fields: fields,
                remember: remember, hasBrowser: WebBrowser.isHere || method == Self.browserMethod,
                borrowsBrowser: borrows, replacesSignIn: replaces, replaceAccount: replacesAccount, share: share,
                timeout: timeout)
        case .password(let verb, let provider, let environment):
            let params = PasswordParams(
                session: session, provider: provider, environment: environment, fields: fields,
                replacesSignIn: replaces, replaceAccount: replacesAccount, timeout: timeout)
            return switch verb {
            case .set: PasswordSet(params)
            case .change: PasswordChange(params)
            case .requestReset: PasswordRequestReset(params)
            case .reset: PasswordReset(params)
            }
        }
    }

    /// The method and its fields, which decide what may be an argument.
    func method(
        _ session: SessionName?, lookup: SignInLookup
    ) throws(Failure) -> SignInMethodInfo {
        switch self {
        case .signIn(let provider, _, let name, _, _, _) where Self.isURL(provider):
            // What is needed there is found out by the sign-in.
            return SignInMethodInfo(name: name ?? Self.browserMethod, label: provider, fields: Self.urlFields)
        case .signIn(let provider, _, let name, _, _, _):
            let detail = try lookup.provider(provider)
            let found = if let name { detail.methods.first { $0.name == name } } else { detail.methods.first }
            if let found { return found }
            throw .usage(
                "\(Self.methodOption) at \(provider), " + NameAdvice.refusal(of: name ?? "", detail.methods.map(\.name))
            )
        case .password(let verb, let provider, _):
            let name = if let provider { provider } else { try lookup.status(session).provider }
            let detail = try lookup.provider(name)
            if let found = detail.password.first(where: { $0.name == verb.rawValue }) { return found }
            throw .usage("\(detail.title) does not support this for passwords")
        }
    }
}

/// Looks up a provider or session before anything is sent.
struct SignInLookup {
    let agent: Agent
    let signals: Signals

    func provider(_ name: String) throws(Failure) -> ProviderDetail {
        try agent.call(ProviderShow(ProviderParams(provider: name)), watching: signals)
    }

    func status(_ session: SessionName?) throws(Failure) -> SessionStatus {
        try agent.call(SessionStatusGet(SessionParams(session: session)), watching: signals)
    }
}
