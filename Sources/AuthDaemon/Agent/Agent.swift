package import AuthAgent
import AuthConcurrency
import AuthFiles
import AuthModel
import AuthWire
import Logging
import ServiceLifecycle
import UnixSignals

/// The running agent: its services in the order in which they lean on each other. They end in the opposite order.
package struct Agent: Sendable {
    private let services: @Sendable () async throws -> [any Service]
    private let logger: Logger

    /// - Parameters:
    ///   - read: reads settings and profiles again.
    ///   - fixedLevel: the log's level is the command line's, whatever the settings say.
    package init(
        configuration: AgentConfiguration, read: @escaping Reloader.Read,
        checkProfile: @escaping AgentServices.CheckProfile, storeSurroundings: StoreAdmin.Dependencies,
        ports: AgentDependencies, socket: SocketFile, executor: SocketExecutor, log: AgentLog, fixedLevel: Bool,
        notifier: ServiceNotifier
    ) {
        let logger = log.logger()
        self.logger = logger
        services = {
            let (clock, publisher) = (ports.clock, EventPublisher())
            let kept = ResponseCache(limit: configuration.settings.apiCacheBytes)
            let context = AgentContext(
                storeKind: ports.store.kind, transport: ports.transport, cryptography: ports.tools.cryptography,
                clock: clock, network: ports.network, sleep: ports.sleep, catalog: configuration.catalog,
                publish: { event in
                    kept.handle(event)
                    publisher.publish(event)
                })
            let board = context.board
            let storage = SessionStorage(
                store: ports.store, pauses: StateFile.pauses(beside: socket.path), signOuts: ports.signOuts,
                handover: ports.handover)
            let registry = SessionRegistry(context: context, storage: storage, seed: .random(in: .min ... .max))
            let loader = SessionLoader(
                context: context, registry: registry, storage: storage, seed: .random(in: .min ... .max))
            let sessions = SessionRequests(context: context, registry: registry, storage: storage)
            let policy = CurrentPeerPolicy(PeerPolicy.own(allowing: configuration.settings.allowedUserIDs))
            let chosen = DefaultSessionSettings(
                board: board,
                folders: FolderRulesFile(beside: socket.path, home: Environment.value("HOME")), logger: logger)
            await chosen.take(configuration.settings)
            let showsNotices = StateBroadcast<Bool>(configuration.settings.notifications)
            let reloader = Reloader(
                current: configuration, read: read, board: board, registry: registry, policy: policy, chosen: chosen,
                showsNotices: showsNotices, log: log, fixedLevel: fixedLevel, notifier: notifier)
            let counters = AgentCounters()
            let stop = ShutdownDeadline()
            let api = APIClient(context: context, registry: registry, kept: kept, seed: .random(in: .min ... .max))
            let outbox = Outbox(
                context: context, api: api, store: ports.outbox, seed: .random(in: .min ... .max),
                publish: publisher.publish)
            let store = StoreAdmin(
                context: context, registry: registry, loader: loader, store: ports.store,
                surroundings: storeSurroundings)
            let dispatcher = Dispatcher(
                context: context, sessions: sessions, users: UserRequests(context: context, registry: registry),
                signIns: SignInService(context: context, registry: registry, loader: loader, tools: ports.tools),
                api: api, outbox: outbox, store: store,
                services: AgentServices(
                    clock: clock, counters: counters, checkProfile: checkProfile,
                    reload: { params async throws(AgentError) in
                        params.check ? try await reloader.check() : try await reloader.reload()
                    }))
            var limits = ConnectionLimits()
            limits.connectionsInAll = limits.connections(forDescriptors: ProcessGuard.descriptors)
            let listener = Listener(
                socket: socket, executor: executor, dispatcher: dispatcher, board: board, policy: policy,
                publisher: publisher, limits: limits, counters: counters, clock: clock, logger: logger,
                opening: { await loader.ready() },
                accepting: {
                    logger.notice(
                        "Serving.", metadata: ["socket": "\(socket.path)", "store": "\(ports.store.kind.rawValue)"])
                    notifier.ready(status: StatusLine.text(sessions: board.statuses(), store: board.store))
                },
                stopping: {
                    stop.begin(at: clock.now().boot)
                    notifier.stopping()
                })
            let prompt = AtomicFile(path: PromptPath.beside(socket: socket.path))
            let watchdog = ServiceNotifier.watchdogInterval().map { interval in
                Watchdog(executor: executor, interval: interval, notifier: notifier)
            }
            let always: [any Service] = [
                BackgroundService(name: "store", work: ports.store.run),
                SessionsBackgroundService(loader: loader, registry: registry, clock: clock, logger: logger, stop: stop),
                BackgroundService(name: "outbox", work: outbox.run),
                BackgroundService(name: "unfinished move", work: store.finishMove),
                StatusPublisher(board: board, prompt: prompt, notifier: notifier, logger: logger),
                NoticeService(
                    context: context, sessions: sessions, loader: loader, desktop: ports.desktop, isOn: showsNotices,
                    publish: publisher.publish, logger: logger),
                ReloadSignal(reloader: reloader), listener,
            ]
            return (watchdog.map { [$0] } ?? []) + always
        }
    }

    /// Serves until SIGTERM or SIGINT.
    /// - Returns: what went wrong, if something did.
    package func serve() async -> (any Error)? {
        do {
            var settings = ServiceGroupConfiguration(
                services: try await services().map { service in
                    .init(
                        service: service, serviceName: (service as? BackgroundService)?.name ?? "\(type(of: service))")
                },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            settings.maximumGracefulShutdownDuration = Self.longestStop
            try await ServiceGroup(configuration: settings).run()
            return nil
        } catch {
            return error
        }
    }

    /// Above what the parts take: 5 s for requests in flight, of clients or of sessions, and then 4 s for the store.
    private static let longestStop = Duration.seconds(12)
}
