import AgentTestSupport
import AuthAgent
import AuthModel
import AuthTokens
import AuthWire

/// A provider of the simplest shape, and a table of sessions at it, in a test's hands.
struct ExampleProvider {
    let clock = ManualClock()
    let store: any SessionStore
    let transport: ScriptedTransport
    let table: SessionRegistry
    let kept: ResponseCache

    init(
        store: any SessionStore = MemoryStore(), transport: ScriptedTransport,
        kept: ResponseCache = ResponseCache(limit: 1 << 20), sleep: any SleepWatch = NeverSleeps(),
        handover: (any HandoverStore)? = nil, signOuts: (any StateStore<[SessionName: SignInID]>)? = nil,
        _ change: (inout ProviderProfile) throws -> Void = { _ in },
        publish: @escaping @Sendable (AgentEvent) -> Void = { _ in }
    ) throws {
        self.store = store
        self.transport = transport
        self.kept = kept
        var profile = try Self.profile()
        try change(&profile)
        table = SessionRegistry(
            store: store, transport: transport, cryptography: SystemCryptography(), clock: clock,
            network: StillNetwork(), sleep: sleep,
            catalog: ProfileCatalog([profile]), signOuts: signOuts, handover: handover, seed: 1,
            publish: { event in
                kept.heed(event)
                publish(event)
            })
    }

    /// Runs the table's background for as long as the test.
    func running(_ test: @escaping @Sendable (SessionRegistry, SignInService) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await table.run() }
            await table.ready()
            try await test(table, SignInService(context: table.context, registry: table))
            group.cancelAll()
        }
    }

    /// Calls of this provider's API.
    var apiClient: APIClient { APIClient(context: table.context, registry: table, kept: kept, seed: 1) }

    static func profile() throws -> ProviderProfile {
        func request(_ path: String, bearer: Bool, body: BodyTemplate? = nil) throws -> RequestTemplate {
            RequestTemplate(method: "POST", path: try Template(parsing: path), bearer: bearer, body: body)
        }
        let body = BodyTemplate.object([
            ("email", .text(try Template(parsing: "{email}"))),
            ("password", .text(try Template(parsing: "{password}"))),
        ])
        let method = SignInMethod(
            name: "password", label: "Password",
            fields: [
                StepField(name: "email", label: "E-mail"),
                StepField(name: "password", label: "Password", secret: true),
            ],
            rules: ["email": [.email]], request: try request("/login", bearer: false, body: body))
        var profile = ProviderProfile(
            name: "example", title: "Example", source: "test",
            environments: [ProviderEnvironment(name: "local", baseURL: "http://localhost:1")],
            defaultEnvironment: "local", signIn: [method],
            renewal: Renewal(kind: .refresh, request: try request("/refresh", bearer: true)))
        profile.reply = ResponseMap(
            accessToken: try JSONPointer("/token"), expiresIn: try JSONPointer("/expires_in"),
            user: try JSONPointer("/user"))
        profile.errors = ErrorMap(message: [try JSONPointer("/message")])
        profile.user = UserMap(id: [try JSONPointer("/id")], email: try JSONPointer("/email"))
        return profile
    }

    /// A provider that signs anybody in and numbers its tokens.
    static func numbering(lifetime: Int = 1000) -> ScriptedTransport {
        let counter = Counter()
        return ScriptedTransport { _ throws(TransportError) in
            json(
                200,
                #"{"token":"token-\#(counter.next())","expires_in":\#(lifetime),"user":{"id":"7","email":"a@b.example"}}"#
            )
        }
    }

    static func json(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: Array(text.utf8))
    }
}
