import AgentTestSupport
import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Synchronization

@testable import AuthDaemon

/// An agent in memory, without a socket: two sessions at a provider that accepts everything.
struct FuzzedAgent: Sendable {
    /// Clients with limited access may use this session, and not the other one.
    static let (listed, hidden) = ("sample", "offsite")

    let clock: ManualClock
    let board: StateBoard
    let access: AccessControl
    let audit: AuditLog
    let changes: AccessChanges
    let tables: StateBroadcast<ListenerTables>
    let dispatcher: Dispatcher
    let events = SentEvents()
    private let loader: SessionLoader

    init(clock: ManualClock) async throws {
        self.clock = clock
        let store = MovableStore(MemoryStore())
        for (number, name) in [Self.listed, Self.hidden].enumerated() {
            try await store.save(try Self.record(named: name, number))
        }
        let catalog = ProfileCatalog([try Sample.profile()])
        let context = AgentContext(
            storeKind: store.kind, transport: AcceptingProvider(), clock: clock, network: OpenNetwork(),
            catalog: catalog, publish: events.add)
        let storage = SessionStorage(store: store)
        let registry = SessionRegistry(context: context, storage: storage, seed: 1)
        loader = SessionLoader(context: context, registry: registry, storage: storage, seed: 1)
        let signIns = SignInService(context: context, registry: registry, loader: loader)
        let api = APIClient(context: context, registry: registry, kept: ResponseCache(limit: 1 << 20), seed: 1)
        changes = AccessChanges()
        access = AccessControl(AccessPolicy(), changes: changes)
        audit = AuditLog(clock: clock)
        tables = StateBroadcast(ListenerTables(extra: try Self.widestRules()))
        board = context.board
        let outbox = Outbox(
            context: context, api: api, store: MemoryOutbox(), seed: 1, decide: access.decision(about:queuedBy:),
            record: { [audit] in audit.record($0, of: context) }, publish: events.add)
        dispatcher = Dispatcher(
            context: context, sessions: SessionRequests(context: context, registry: registry, storage: storage),
            signIns: signIns, api: api, outbox: outbox,
            store: StoreAdmin(
                context: context, registry: registry, loader: loader, store: store,
                dependencies: StoreAdmin.Dependencies(
                    open: { _ in MemoryStore() }, configuredStore: { nil }, choose: { _ in }, moves: nil,
                    bundles: NoBundles())),
            lock: LockService(
                LockService.Dependencies(
                    context: context, registry: registry, storage: storage, signIns: signIns, store: MemoryLock(),
                    endAccepted: {}, log: { _ in })),
            services: Self.services(context), policy: Self.policyRequests(access, tables, audit), audit: audit,
            signInLimit: SignInLimit(clock: clock), presence: PresenceService(context: context, check: NoPresence()),
            consent: ConsentService(
                context: context, prompt: NoDesktop(), hasLoginSession: { true }, log: { _ in }),
            lent: LentSignIns(
                context: context, registry: registry, dependencies: nil, browser: NoBrowser(),
                desktop: NoNotifications(), showsNotices: { false }))
    }

    /// Runs the agent while `body` does. Without its service the outbox still sends what is added to it.
    func running<Value: Sendable>(_ body: @Sendable (FuzzedAgent) async -> Value) async -> Value {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [loader] in await loader.run() }
            await loader.ready()
            defer { group.cancelAll() }
            return await body(self)
        }
    }

    private static func record(named name: String, _ number: Int) throws -> SessionRecord {
        var record = try Sample.record(
            refreshToken: FuzzedSecret.refreshTokens[number], remembered: ["password": FuzzedSecret.password])
        record.session = try SessionName(name)
        record.tokens.accessToken = Secret(FuzzedSecret.accessTokens[number])
        record.tokens.expiresAt = Sample.sentAt + .seconds(3600)
        record.clientSecret = Secret(FuzzedSecret.clientSecret)
        if name == listed { record.defaultSince = Sample.sentAt }
        return record
    }

    /// Everything that settings can allow, but no token.
    private static func widestRules() throws -> ListenerRules {
        var rules = ListenerRules()
        rules.sessions = [try SessionName(listed)]
        rules.classes = Set(AccessClass.allCases)
        rules.methods = Set(AgentMethods.all.map { $0.name })
        return rules
    }

    private static func services(_ context: AgentContext) -> AgentServices {
        AgentServices(
            clock: context.clock, counters: AgentCounters(), tokenRequests: context.tokenRequests,
            checkProfile: { _ in ProviderCheck(problems: []) },
            tryProfile: { _ in ProviderTrial(problems: [], requests: []) },
            reload: { _ async throws(AgentError) in ReloadResult(message: "done") },
            restart: { _ async throws(AgentError) in }, program: nil)
    }

    private static func policyRequests(
        _ access: AccessControl, _ tables: StateBroadcast<ListenerTables>, _ audit: AuditLog
    ) -> PolicyRequests {
        let sources = PolicySources(
            rootPath: "/etc/authd/policy.toml", userPath: nil, stateFolder: nil, readRoot: { AccessPolicy.Rules() },
            readUser: { _ in nil }, parseUser: { _, _ in AccessPolicy.Rules() })
        return PolicyRequests(
            access, behind: tables, from: sources, readText: { _ in ProfileReading(AccessPolicy.Rules()) }, audit: audit
        )
    }
}

/// What the agent has and no client may read. Inputs do not contain them by chance.
enum FuzzedSecret {
    /// Only the result of `token.get` has one.
    static let accessTokens = ["access-Vq3xN7", "access-Hs8kW2"]
    /// From a sign-in or a renewal at the provider; the same holds for them.
    static let issuedToken = "access-Zt5mB9"
    static let refreshTokens = ["refresh-Jc4fR6", "refresh-Xd1pL0"]
    static let issuedRefreshToken = "refresh-Gy7uE3"
    static let password = "password-Mw2hT8"
    static let clientSecret = "client-Kb6nA5"

    static let ofClients = accessTokens + [issuedToken]
    static let ofAgent = refreshTokens + [issuedRefreshToken, password, clientSecret, MemoryLock.passphrase]
}

/// The events that clients could receive.
final class SentEvents: Sendable {
    private let list = Mutex<[AgentEvent]>([])

    var all: [AgentEvent] { list.withLock { $0 } }
    @Sendable func add(_ event: AgentEvent) { list.withLock { $0.append(event) } }
}

/// A provider that accepts every request of the sample profile.
private struct AcceptingProvider: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let user = #"{"id":"42","email":"ada@example.org","first":"Ada"}"#
        if request.url.hasSuffix("/login") || request.url.hasSuffix("/refresh") {
            return Sample.reply(
                200,
                #"{"token":"\#(FuzzedSecret.issuedToken)","refreshToken":"\#(FuzzedSecret.issuedRefreshToken)","#
                    + #""expiresIn":3600,"user":\#(user)}"#)
        }
        return Sample.reply(200, user)
    }

    func closeIdleConnections() async {}
}

private struct OpenNetwork: NetworkWatch {
    func readings() -> AsyncStream<NetworkReading> {
        AsyncStream { $0.yield(NetworkReading(reach: .internet)) }
    }
}

private struct NoPresence: PresenceCheck {
    func ask(_ question: PresenceQuestion, number: UInt64) async -> PresenceAnswer {
        .unavailable("there is no polkit")
    }
    func withdraw(_ number: UInt64) {}
}

private struct NoDesktop: ConsentPrompt {
    func show(_ question: ConsentQuestion, number: UInt64) async -> ConsentReply { .notShown }
    func withdraw(_ number: UInt64) {}
}

/// Seals nothing.
private struct NoBundles: BundleSealing {
    func close(_ content: Secret, with passphrase: Secret) async throws(SealRefusal) -> [UInt8] { [1, 2, 3] }
    func open(_ bundle: [UInt8], with passphrase: Secret) async throws(SealRefusal) -> Secret { throw .wrongPassphrase }
}

private actor MemoryOutbox: OutboxStore {
    private var entries: [(entry: OutboxEntry, request: OutboxRequest)] = []

    nonisolated var mayHoldEntries: Bool { true }

    func all() -> [OutboxEntry] { entries.map(\.entry) }
    func request(of id: String) -> OutboxRequest? { entries.first { $0.entry.id == id }?.request }
    func add(_ entry: OutboxEntry, _ request: OutboxRequest) { entries.append((entry, request)) }
    func record(_ finalRefusal: AgentError?, for id: String) {
        for index in entries.indices where entries[index].entry.id == id {
            entries[index].entry.finalRefusal = finalRefusal
        }
    }
    func remove(_ id: String) { entries.removeAll { $0.entry.id == id } }
    func close() {}
}
