import AgentTestSupport
import AuthAgent
import AuthModel
import AuthTokens
import AuthWire

/// A provider of the simplest shape, and a session registry with sessions at it.
struct ExampleProvider {
    let clock = ManualClock()
    let store: any SessionStore
    let transport: ScriptedTransport
    let loader: SessionLoader
    let sessions: SessionRequests
    let storage: SessionStorage
    let kept: ResponseCache

    init(
        store: any SessionStore = MemoryStore(), transport: ScriptedTransport,
        kept: ResponseCache = ResponseCache(limit: 1 << 20), network: any NetworkWatch = StillNetwork(),
        sleep: any SleepWatch = NeverSleeps(),
        handover: (any HandoverStore)? = nil, signOuts: (any StateStore<[SessionName: SignInID]>)? = nil,
        catalog: ProfileCatalog? = nil, waitsForClients: Bool = false,
        _ change: (inout ProviderProfile) throws -> Void = { _ in },
        publish: @escaping @Sendable (AgentEvent) -> Void = { _ in }
    ) throws {
        self.store = store
        self.transport = transport
        self.kept = kept
        var profile = try Self.profile()
        try change(&profile)
        let context = AgentContext(
            storeKind: store.kind, transport: transport, cryptography: SystemCryptography(), clock: clock,
            network: network, sleep: sleep, catalog: catalog ?? ProfileCatalog([profile]),
            publish: { event in
                kept.handle(event)
                publish(event)
            })
        storage = SessionStorage(
            store: store, signOuts: signOuts, handover: handover, waitsForClients: waitsForClients)
        let registry = SessionRegistry(context: context, storage: storage, seed: 1)
        loader = SessionLoader(context: context, registry: registry, storage: storage, seed: 1)
        sessions = SessionRequests(context: context, registry: registry, storage: storage)
    }

    /// Runs the sessions for as long as the test.
    func running(_ test: @escaping @Sendable (SessionRequests, SignInService) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await loader.run() }
            await loader.ready()
            try await test(sessions, signIns)
            group.cancelAll()
        }
    }

    var signIns: SignInService {
        SignInService(context: sessions.context, registry: sessions.registry, loader: loader)
    }

    /// Calls of this provider's API.
    var apiClient: APIClient { APIClient(context: sessions.context, registry: sessions.registry, kept: kept, seed: 1) }

    /// A provider whose renewals wait for the test, and end at once where they are cut off.
    static func waiting(
        for hold: Hold, store: any SessionStore = MemoryStore(),
        renewal: @escaping @Sendable () throws(TransportError) -> HTTPResponse = { () throws(TransportError) in
            json(200, #"{"token":"token-2","expires_in":1000}"#)
        }
    ) throws -> ExampleProvider {
        try ExampleProvider(
            store: store,
            transport: ScriptedTransport { request throws(TransportError) in
                guard request.url.hasSuffix("/refresh") else {
                    return json(200, #"{"token":"token-1","expires_in":1000,"user":{"id":"7"}}"#)
                }
                guard await hold.pass() else { throw .cancelled }
                return try renewal()
            })
    }

    static func profile() throws -> ProviderProfile {
        func request(_ path: String, bearer: Bool, body: RequestBody? = nil) throws -> RequestTemplate {
            RequestTemplate(method: "POST", path: try Template(parsing: path), bearer: bearer, body: body)
        }
        let body = RequestBody.json(
            .object([
                ("email", .text(try Template(parsing: "{email}"))),
                ("password", .text(try Template(parsing: "{password}"))),
            ]))
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
            accessToken: try .pointer(JSONPointer("/token")), expiresIn: try .pointer(JSONPointer("/expires_in")),
            user: [try JSONPointer("/user")])
        profile.errors = ErrorMap(message: [try JSONPointer("/message")])
        profile.user = UserMap(id: [try JSONPointer("/id")], email: [try JSONPointer("/email")])
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
