import AgentTestSupport
import AuthAgent
import AuthConcurrency
import AuthDaemon
import AuthModel
import AuthOutbox
import AuthSealedFile
import AuthSockets
import AuthWire
import Dispatch
import Foundation
import Logging
import ServiceLifecycle
import TestSupport

/// An agent in this process, on a real socket in its own folder, with one session and a valid token.
struct TestServer: Sendable {
    static let session = "shop"
    static let token = "an-access-token"

    let path: String
    /// The path of the extra socket.
    let extraPath: String
    let tables: StateBroadcast<ListenerTables>
    let board: StateBoard
    let sessions: SessionRequests
    let counters: AgentCounters
    let publisher: EventPublisher
    let policy: CurrentPeerPolicy
    let audit: AuditLog
    let changes: AccessChanges
    let lock: LockService
    let access: AccessControl
    let executor: SocketExecutor
    let time: ManualTime?
    let stop: @Sendable () async -> Void

    func dial() throws -> RawClient { try RawClient(path) }

    /// - Parameter listener: the name of a socket.
    func dial(_ listener: String) throws -> RawClient {
        try RawClient(path.dropLast("socket".count) + "\(listener)/socket")
    }

    func dialExtra() throws -> RawClient { try RawClient(extraPath) }

    /// Advances the connections' time; returns when timers that are due have run.
    func pass(_ amount: Duration) {
        time?.pass(amount)
        // A turn of the executor runs submitted work, and then timers.
        turn()
        turn()
    }

    /// Returns when the sockets' thread has run all earlier work.
    func turn() {
        let done = DispatchSemaphore(value: 0)
        executor.perform { done.signal() }
        done.wait()
    }

    /// Serves until `body` returns; then the agent has ended, whatever `body` has left running.
    /// - Parameters:
    ///   - names: of its sessions; all have the same token.
    ///   - rules: for the extra socket.
    ///   - named: for sockets from the service manager.
    ///   - accessPolicy: root's and the user's rules.
    ///   - signIn, browser: what lends the browser to sign-ins on other machines.
    ///   - time: for the connections; by default the system's.
    ///   - clock: of the sessions.
    ///   - parse: parses long lines.
    ///   - recognition: how clients are recognized.
    ///   - kept: where the sessions are.
    ///   - transport: the way to the providers.
    static func run(
        limits: ConnectionLimits = ConnectionLimits(), policy: PeerPolicy = .own(allowing: []),
        names: [String] = [session], catalog: ProfileCatalog = ProfileCatalog(),
        rules: ListenerRules = ListenerRules(), named: [ListenerName: ListenerRules] = [:],
        accessPolicy: AccessPolicy = AccessPolicy(),
        signInsPerHour: Int = Settings.defaultSignInsPerHour, presence: any PresenceCheck = NoPresence(),
        desktop: any ConsentPrompt = NoDesktop(), hasLoginSession: Bool = true,
        signIn: SignInDependencies? = nil, browser: any BrowserOpening = NoBrowser(),
        time: ManualTime? = nil, clock: any SystemClock = BootClock(),
        parse: @escaping LongLine.Parse = LongLine.parseJSON,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        recognition: PeerRecognition = .peerDescriptor,
        keptIn kept: MovableStore.Store = MemoryStore(), transport: any HTTPTransport = NoTransport(),
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let socket = try SocketFile.bind(path: folder.path + "/socket")
        let executor = if let time { try SocketExecutor(time: { time.now }) } else { try SocketExecutor() }
        let store = MovableStore(kept)
        for name in names { try await store.save(record(named: name, at: clock.now().wall)) }
        let extra = ExtraSocket(beside: socket.path)
        let extraPath = folder.path + "/extra/socket"
        try extra.listen(at: extraPath)
        var (tables, sockets) = (ListenerTables(extra: rules), [ListenerName.api: socket])
        for (name, rules) in named {
            sockets[name] = try SocketFile.bind(path: try folder.folder(name.rawValue) + "/socket")
            tables[name] = rules
        }
        let broadcast = StateBroadcast<ListenerTables>(tables)
        let publisher = EventPublisher()
        let peers = CurrentPeerPolicy(policy)
        let context = AgentContext(
            storeKind: store.kind, transport: transport, clock: clock, network: StillNetwork(),
            catalog: catalog, publish: publisher.publish)
        let storage = SessionStorage(store: store)
        let registry = SessionRegistry(context: context, storage: storage, seed: 1)
        let loader = SessionLoader(context: context, registry: registry, storage: storage, seed: 1)
        let sessions = SessionRequests(context: context, registry: registry, storage: storage)
        let counters = AgentCounters()
        let services = AgentServices(
            clock: clock, counters: counters, tokenRequests: context.tokenRequests,
            checkProfile: { _ in ProviderCheck(problems: []) },
            tryProfile: { _ in ProviderTrial(problems: [], requests: []) },
            reload: { _ async throws(AgentError) in ReloadResult(message: "done") },
            restart: { _ async throws(AgentError) in }, program: nil)
        let started = AsyncStream<Void>.makeStream()
        let api = APIClient(
            context: context, registry: registry, kept: ResponseCache(limit: 0), seed: 1)
        let (audit, changes) = (AuditLog(clock: clock), AccessChanges(notify: publisher.rulesChanged))
        let signIns = SignInService(context: context, registry: registry, loader: loader)
        let lock = LockService(
            LockService.Dependencies(
                context: context, registry: registry, storage: storage, signIns: signIns,
                store: LockFiles(in: folder.path + "/state", cost: PassphraseCost(logarithm: 10)),
                endAccepted: publisher.endAcceptedRequests, log: { _ in }))
        let access = AccessControl(accessPolicy, changes: changes)
        let policyRequests = policyRequests(access, behind: broadcast, folder: folder.path, audit: audit)
        let listener = Listener(
            sockets: sockets, extra: extra, executor: executor,
            dispatcher: Dispatcher(
                context: context, sessions: sessions,
                signIns: signIns, api: api,
                outbox: Outbox(
                    context: context, api: api, store: SQLiteOutbox(path: nil, keys: store), seed: 1,
                    decide: access.decision(about:queuedBy:), record: { audit.record($0, of: context) },
                    publish: publisher.publish),
                store: StoreAdmin(
                    context: context, registry: registry, loader: loader, store: store,
                    dependencies: StoreAdmin.Dependencies(
                        open: { _ in MemoryStore() }, configuredStore: { nil }, choose: { _ in }, moves: nil,
                        bundles: PassphraseBundles(cost: PassphraseCost(logarithm: 10)))),
                lock: lock, services: services, policy: policyRequests, audit: audit,
                signInLimit: SignInLimit(clock: clock, perHour: signInsPerHour),
                presence: PresenceService(context: context, check: presence),
                consent: ConsentService(
                    context: context, prompt: desktop, hasLoginSession: { hasLoginSession }, log: { _ in }),
                lent: LentSignIns(
                    context: context, registry: registry, dependencies: signIn, browser: browser,
                    desktop: NoNotifications(), showsNotices: { false })),
            board: context.board, policy: peers, tables: broadcast,
            changes: changes, publisher: publisher, limits: recognition.applied(to: limits),
            counters: counters,
            clock: clock, parse: parse, logger: logger, hasPeerDescriptors: recognition.hasPeerDescriptors,
            accepting: { started.continuation.yield() })
        let agent = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: listener, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        let rig = TestServer(
            path: socket.path, extraPath: extraPath, tables: broadcast, board: context.board, sessions: sessions,
            counters: counters, publisher: publisher, policy: peers, audit: audit, changes: changes, lock: lock,
            access: access, executor: executor, time: time,
            stop: { await agent.triggerGracefulShutdown() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await loader.run() }
            tasks.addTask { try await agent.run() }
            for await _ in started.stream { break }
            await loader.ready()
            do {
                try await body(rig)
            } catch {
                tasks.cancelAll()
                throw error
            }
            tasks.cancelAll()
            while let result = await tasks.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
        await executor.stop()
    }

    /// Without files of rules.
    static func policyRequests(
        _ access: AccessControl, behind boundary: StateBroadcast<ListenerTables> = StateBroadcast(ListenerTables()),
        folder: String, audit: AuditLog,
        readRoot: @escaping @Sendable () -> AccessPolicy.Rules = { AccessPolicy.Rules() }
    ) -> PolicyRequests {
        let sources = PolicySources(
            rootPath: folder + "/root-policy.toml", userPath: nil, stateFolder: nil, readRoot: readRoot,
            readUser: { _ in nil }, parseUser: { _, _ in AccessPolicy.Rules() })
        return PolicyRequests(
            access, behind: boundary, from: sources, readText: { _ in ProfileReading(AccessPolicy.Rules()) },
            audit: audit)
    }

    private static func record(named name: String, at now: WallTime) throws -> SessionRecord {
        SessionRecord(
            session: try SessionName(name), provider: name, environment: "production", method: "password",
            tokens: TokenSet(accessToken: Secret(token), issuedAt: now, expiresAt: now + .seconds(3600)),
            user: nil, rawUser: nil, signedInAt: now)
    }
}

struct NoDesktop: ConsentPrompt {
    func show(_ question: ConsentQuestion, number: UInt64) async -> ConsentReply { .notShown }
    func withdraw(_ number: UInt64) {}
}

/// There is no provider.
struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        throw .offline(reason: "no network")
    }
    func closeIdleConnections() async {}
}

struct StillNetwork: NetworkWatch {
    func readings() -> AsyncStream<NetworkReading> {
        AsyncStream { $0.yield(NetworkReading(reach: .internet)) }
    }
}
