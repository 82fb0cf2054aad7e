import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

/// A sign-in machine in a test's hands: events in, actions and replies out, and a clock that only the test turns.
struct SignInBench {
    private(set) var machine: SignInMachine
    private(set) var elapsed = Duration.zero
    private(set) var actions: [SignInAction] = []
    private(set) var replies: [(caller: CallerID, reply: SignInReply)] = []
    private(set) var wakeAt: BootInstant?
    /// The status of the session before, as each event that needs it has it.
    var former: SessionStatus?
    private var lastCaller: UInt64 = 0

    init(_ profile: ProviderProfile, _ params: LoginStart, catalog: ProfileCatalog = ProfileCatalog([])) throws {
        machine = try SignInMachine(
            id: "l1", params: params, profile: profile, catalog: catalog, now: ManualClock.moment(.zero))
    }

    /// A request about the password.
    init(_ action: PasswordAction, at profile: ProviderProfile, _ fields: [String: String]) throws {
        let method = try #require(profile.password[action])
        machine = SignInMachine(
            id: "l1", session: try SessionName("sample"), purpose: .password(action),
            form: try SignInForm(profile: profile, environment: nil, method: method, answers: fields),
            mayReplaceAccount: false, now: ManualClock.moment(.zero))
    }

    /// At a provider that requires an address and a password.
    static func password(_ fields: [String: String] = ["email": "a@b.example", "password": "p"]) throws -> SignInBench {
        try SignInBench(Sample.profile(), LoginStart(provider: "sample", fields: fields))
    }

    /// At a provider that sends a code.
    static func code(_ fields: [String: String] = ["email": "a@b.example"]) throws -> SignInBench {
        let profile = try Sample.profile { profile in
            var method = SignInMethod(
                name: "code", label: "Code",
                fields: [
                    StepField(name: "email", label: "E-mail", kind: FieldKind.email),
                    StepField(name: "code", label: "Code", kind: FieldKind.code),
                ],
                request: RequestTemplate(method: "POST", path: try Template(parsing: "/code")))
            method.challenge = Challenge(
                field: "code",
                request: RequestTemplate(
                    method: "POST", path: try Template(parsing: "/send"),
                    body: .json(.object([("email", .text(try Template(parsing: "{email}")))]))),
                lifetime: .seconds(600))
            profile.signIn = [method]
        }
        return try SignInBench(profile, LoginStart(provider: "sample", fields: fields))
    }

    /// At a provider that speaks OAuth.
    static func oauth(
        _ method: String, fields: [String: String] = [:], hasBrowser: Bool = true, borrows: Bool = false,
        _ change: (inout OAuthProfile) -> Void = { _ in }
    ) throws -> SignInBench {
        var oauth = OAuthProfile(issuer: "https://id.example", clientID: "authd")
        change(&oauth)
        let profile = try Sample.profile { profile in
            profile.oauth = oauth
            profile.signIn = oauth.methods
        }
        return try SignInBench(
            profile,
            LoginStart(
                provider: "sample", method: method, fields: fields, hasBrowser: hasBrowser, borrowsBrowser: borrows))
    }

    static var server: OAuthServer {
        var server = OAuthServer(issuer: "https://id.example", endpoints: OAuthEndpoints())
        server.endpoints.authorization = "https://id.example/authorize"
        server.endpoints.token = "https://id.example/token"
        return server
    }

    var now: Moment { ManualClock.moment(elapsed) }

    // MARK: Events

    mutating func send(_ event: SignInEvent) {
        let turn = machine.handle(event, at: now)
        actions = turn.actions
        replies += turn.replies
        wakeAt = turn.wakeUp
    }

    @discardableResult
    mutating func ask(_ event: (CallerID) -> SignInEvent) -> CallerID {
        lastCaller += 1
        send(event(CallerID(lastCaller)))
        return CallerID(lastCaller)
    }

    @discardableResult
    mutating func begin() -> CallerID {
        let former = former
        return ask { .begun($0, former: former) }
    }

    @discardableResult
    mutating func answer(_ fields: [String: String]) -> CallerID {
        let former = former
        return ask { .answered($0, fields, former: former) }
    }

    mutating func advance(_ time: Duration) { elapsed += time }

    /// Turns the clock to the deadline, which has to be there.
    mutating func sleepUntilWake() throws {
        let deadline = try #require(wakeAt)
        advance(deadline - now.boot)
        send(.wake)
    }

    mutating func signedIn(_ grant: Grant) {
        responded(.own, SignInResponse(grant: grant))
    }

    mutating func responded(_ part: SignInPart, _ response: SignInResponse) {
        send(.responded(part, .success(response), sentAt: now, former: former))
    }

    /// The sign-in's own request fails.
    mutating func refused(_ error: AgentError, _ part: SignInPart = .own) {
        send(.responded(part, .failure(.refused(error)), sentAt: now, former: former))
    }

    mutating func examined(_ user: SignedInUser? = nil) {
        send(.examined(user: user, origins: nil, former: former))
    }

    // MARK: What came of them

    func grant(_ token: String, user: String? = nil) -> Grant {
        Grant(
            accessToken: Secret(token), issuedAt: now.wall,
            user: user.map { UserSummary(id: $0, email: "\($0)@b.example") })
    }

    static func status(user: String, environment: String = "production") throws -> SessionStatus {
        var status = SessionStatus(
            session: try SessionName("sample"), provider: "sample", environment: environment, state: .active)
        status.user = UserSummary(id: user, email: "\(user)@b.example")
        return status
    }

    /// What that caller was replied; recorded as an issue unless there is just one reply.
    func reply(to caller: CallerID) throws -> SignInReply {
        let found = replies.filter { $0.caller == caller }
        try #require(found.count == 1)
        return found[0].reply
    }

    func step(for caller: CallerID) throws -> Step { try reply(to: caller).get() }

    func failure(for caller: CallerID) throws -> AgentError? {
        if case .failure(let error) = try reply(to: caller) { error } else { nil }
    }

    func hasReply(_ caller: CallerID) -> Bool { replies.contains { $0.caller == caller } }

    var revoked: [String] {
        actions.compactMap { if case .revoke(let record) = $0 { record.tokens.accessToken.reveal() } else { nil } }
    }

    var installed: [SessionRecord] {
        actions.compactMap { if case .install(let record, _, _) = $0 { record } else { nil } }
    }

    var requested: [SignInTokenRequest] {
        actions.compactMap { if case .requestToken(let request) = $0 { request } else { nil } }
    }

    var forgotten: [RegisteredClient] {
        actions.compactMap { if case .forgetRegistration(let client) = $0 { client } else { nil } }
    }

    /// The cases of the actions, without what they carry.
    var actionNames: [String] {
        actions.map { action in String("\(action)".prefix { $0 != "(" }) }
    }
}

extension SignInBench {
    /// Begins, and answers for the authorization server up to where the user is sent to a browser.
    @discardableResult
    mutating func beginBrowser(registeredAs client: RegisteredClient? = nil) throws -> (CallerID, AuthorizationAttempt)
    {
        let caller = begin()
        if let client { send(.registered(.success(client))) }
        send(.serverFound(.success(Self.server), proofKey: nil))
        let attempt = try self.attempt()
        send(.authorizationReady(.success(BrowserAuthorization(attempt: attempt, listens: true))))
        return (caller, attempt)
    }

    func attempt() throws -> AuthorizationAttempt {
        let oauth = try #require(machine.authority.oauth)
        return try AuthorizationAttempt(
            profile: machine.authority, oauth: oauth, server: Self.server, redirectURI: oauth.redirect.uri,
            cryptography: PlainCryptography())
    }

    static func client(_ id: String) throws -> RegisteredClient {
        try RegisteredClient(["client_id": .string(id)], issuer: "https://id.example", mayBeInsecure: false)
    }

    static func device(lifetime: Int = 600) throws -> DeviceAuthorization {
        try DeviceAuthorization([
            "device_code": "d", "user_code": "U", "verification_uri": "https://id.example/d",
            "expires_in": .integer(Int64(lifetime)), "interval": 5,
        ])
    }
}

extension AuthorizationAttempt {
    /// What the browser brings back, with this in it.
    func query(_ answer: String = "code=c") throws -> String {
        let state = try #require(url.split(separator: "&").first { $0.hasPrefix("state=") })
        return "\(answer)&\(state)&iss=https%3A%2F%2Fid.example"
    }
}
