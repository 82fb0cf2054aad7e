import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

/// A provider that knows everybody by the address they give, and keeps which tokens it was asked to revoke.
private final class ManyAccounts: Sendable {
    private let asked = Mutex<(signIns: [String], revoked: [String])>(([], []))
    let tellsUser: Bool

    init(tellsUser: Bool = true) { self.tellsUser = tellsUser }

    var signIns: [String] { asked.withLock { $0.signIns } }
    var revoked: [String] { asked.withLock { $0.revoked } }

    func example(_ change: @escaping (inout ProviderProfile) throws -> Void = { _ in }) throws -> ExampleProvider {
        let transport = ScriptedTransport { [self] request throws(TransportError) in answer(request) }
        return try ExampleProvider(transport: transport) { profile in
            profile.signOut = RequestTemplate(method: "POST", path: try Template(parsing: "/logout"), bearer: true)
            profile.userRequest = UserRequest(
                request: RequestTemplate(method: "GET", path: try Template(parsing: "/me"), bearer: true),
                user: [try JSONPointer("")])
            profile.environments.append(ProviderEnvironment(name: "other", baseURL: "http://localhost:2"))
            try change(&profile)
        }
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        let bearer = request.headers.first { $0.name == "Authorization" }?.value.reveal() ?? ""
        let token = String(bearer.dropFirst("Bearer ".count))
        if request.url.hasSuffix("/logout") {
            asked.withLock { $0.revoked.append(token) }
            return ExampleProvider.json(200, "{}")
        }
        if request.url.hasSuffix("/me") { return ExampleProvider.json(200, Self.user(token)) }
        let email = request.json?["email"]?.stringValue ?? ""
        asked.withLock { $0.signIns.append(email) }
        let user = tellsUser ? #","user":\#(Self.user("of-" + email))"# : ""
        return ExampleProvider.json(200, #"{"token":"of-\#(email)","expires_in":1000\#(user)}"#)
    }

    private static func user(_ token: String) -> String {
        // Addresses that differ in case alone are one account's.
        let email = token.dropFirst("of-".count).lowercased()
        return #"{"id":"id-\#(email)","email":"\#(email)"}"#
    }

    static func start(
        _ email: String, session: SessionName? = nil, environment: String? = nil, replaceAccount: Bool = false
    ) -> LoginStart {
        LoginStart(
            provider: "example", session: session, environment: environment,
            fields: ["email": email, "password": "secret"], replaceAccount: replaceAccount)
    }

    /// Returns when the provider was asked to revoke as many tokens.
    func waitForRevocations(_ count: Int, _ sessions: SessionRequests) async {
        while revoked.count < count { await Task.yield() }
    }
}

@Suite("A sign-in with another account", .timeLimit(.minutes(1)))
struct AccountChangeTests {
    private static func expectQuestion(_ step: Step) {
        #expect(step.kind == .fields)
        #expect(step.fields?.map(\.name) == ["replace_account"])
        #expect(step.fields?.first?.kind == "agreement")
        #expect(step.message == "Session example is signed in as ada@a.example; this sign-in is as bob@a.example.")
    }

    private static func answer(_ text: String, to step: Step, _ signIns: SignInService) async throws -> Step {
        try await signIns.answer(LoginAnswer(login: step.login, fields: ["replace_account": text]))
    }

    @Test("is confirmed before it replaces the session; a refusal keeps the session and revokes the new tokens")
    func refused() async throws {
        let accounts = ManyAccounts()
        let example = try accounts.example()
        try await example.running { sessions, signIns in
            _ = try await signIns.start(ManyAccounts.start("ada@a.example"))
            let step = try await signIns.start(ManyAccounts.start("bob@a.example"))
            Self.expectQuestion(step)
            #expect(try await sessions.token(TokenGet()).accessToken == "of-ada@a.example")
            await #expect(throws: AgentError.self) {
                try await signIns.answer(LoginAnswer(login: step.login, fields: ["password": "another"]))
            }
            await #expect(throws: AgentError.self) { try await signIns.resend(LoginParams(login: step.login)) }
            let last = try await Self.answer("no", to: step, signIns)
            #expect(last.kind == .failed && last.error?.kind == .conflict && last.error?.cause == "other_user")
            #expect(last.error?.message.contains("--replace-account") == true)
            #expect(try await sessions.token(TokenGet()).accessToken == "of-ada@a.example")
            await accounts.waitForRevocations(1, sessions)
            #expect(accounts.revoked == ["of-bob@a.example"])
        }
    }

    @Test("takes the session after a yes, without another request, and the former account's tokens are revoked")
    func agreed() async throws {
        let accounts = ManyAccounts()
        let example = try accounts.example()
        try await example.running { sessions, signIns in
            _ = try await signIns.start(ManyAccounts.start("ada@a.example"))
            let step = try await signIns.start(ManyAccounts.start("bob@a.example"))
            let done = try await Self.answer("yes", to: step, signIns)
            #expect(done.kind == .done && done.status?.user?.email == "bob@a.example")
            #expect(try await sessions.token(TokenGet()).accessToken == "of-bob@a.example")
            #expect(accounts.signIns == ["ada@a.example", "bob@a.example"])
            await accounts.waitForRevocations(1, sessions)
            #expect(accounts.revoked == ["of-ada@a.example"])
        }
    }

    @Test("replaces it at once if that was agreed beforehand; the same account needs no confirmation")
    func saidBeforehand() async throws {
        let accounts = ManyAccounts()
        let example = try accounts.example()
        try await example.running { _, signIns in
            _ = try await signIns.start(ManyAccounts.start("ada@a.example"))
            #expect(try await signIns.start(ManyAccounts.start("ada@a.example")).kind == .done)
            let done = try await signIns.start(ManyAccounts.start("bob@a.example", replaceAccount: true))
            #expect(done.status?.user?.email == "bob@a.example")
        }
    }

    @Test("is found out by asking for the user, if the sign-in does not tell who it was")
    func askedForUser() async throws {
        let accounts = ManyAccounts(tellsUser: false)
        let example = try accounts.example()
        try await example.running { sessions, signIns in
            _ = try await signIns.start(ManyAccounts.start("ada@a.example"))
            _ = try await sessions.user(UserGet())
            Self.expectQuestion(try await signIns.start(ManyAccounts.start("bob@a.example")))
        }
    }

    @Test("is confirmed before anything is sent, if the given address shows it")
    func givenAddress() async throws {
        let accounts = ManyAccounts()
        let example = try accounts.example { $0.signIn[0].fields[0].kind = FieldKind.email }
        try await example.running { _, signIns in
            _ = try await signIns.start(ManyAccounts.start("ada@a.example"))
            let step = try await signIns.start(ManyAccounts.start("bob@a.example"))
            Self.expectQuestion(step)
            #expect(try await Self.answer("no", to: step, signIns).error?.kind == .conflict)
            #expect(accounts.signIns == ["ada@a.example"])
            let early = try await signIns.start(
                LoginStart(provider: "example", fields: ["email": "bob@a.example"]))
            Self.expectQuestion(early)
            #expect(try await Self.answer("yes", to: early, signIns).fields?.map(\.name) == ["password"])
            _ = try await signIns.cancel(LoginParams(login: early.login))
            #expect(try await signIns.start(ManyAccounts.start("ADA@a.example")).kind == .done)
            let again = try await signIns.start(ManyAccounts.start("bob@a.example"))
            #expect(try await Self.answer("YES", to: again, signIns).kind == .done)
            #expect(accounts.signIns == ["ada@a.example", "ADA@a.example", "bob@a.example"])
        }
    }

    @Test("another environment is another account, and is confirmed before anything is sent")
    func otherEnvironment() async throws {
        let accounts = ManyAccounts()
        let example = try accounts.example()
        try await example.running { _, signIns in
            _ = try await signIns.start(ManyAccounts.start("ada@a.example"))
            let step = try await signIns.start(ManyAccounts.start("ada@a.example", environment: "other"))
            #expect(step.fields?.map(\.name) == ["replace_account"])
            #expect(step.message?.contains("environment local") == true)
            #expect(accounts.signIns.count == 1)
        }
    }

    @Test("a named session is signed in to again at its own environment, unless another one is given")
    func sameEnvironment() async throws {
        let accounts = ManyAccounts()
        let example = try accounts.example()
        let session = try SessionName("example")
        try await example.running { _, signIns in
            _ = try await signIns.start(ManyAccounts.start("ada@a.example", environment: "other"))
            let again = try await signIns.start(ManyAccounts.start("ada@a.example", session: session))
            #expect(again.kind == .done && again.status?.environment == "other")
            let moved = try await signIns.start(
                ManyAccounts.start("ada@a.example", session: session, environment: "local"))
            #expect(moved.fields?.map(\.name) == ["replace_account"])
        }
        let signIns = example.transport.asked.filter { $0.hasSuffix("/login") }
        #expect(signIns == ["POST http://localhost:2/login", "POST http://localhost:2/login"])
    }

    @Test("without a confirmation leaves the session as it was, and revokes the new tokens")
    func abandoned() async throws {
        let accounts = ManyAccounts()
        let example = try accounts.example()
        try await example.running { sessions, signIns in
            _ = try await signIns.start(ManyAccounts.start("ada@a.example"))
            let step = try await signIns.start(ManyAccounts.start("bob@a.example"))
            #expect(try await signIns.cancel(LoginParams(login: step.login)).kind == .failed)
            await accounts.waitForRevocations(1, sessions)
            #expect(accounts.revoked == ["of-bob@a.example"])
            #expect(try sessions.status(nil).user?.email == "ada@a.example")
        }
    }
}
