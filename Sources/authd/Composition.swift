import AuthAgent
import AuthConcurrency
import AuthDaemon
import AuthFiles
import AuthHTTP
import AuthKeyring
import AuthModel
import AuthNetwork
import AuthOutbox
import AuthSealedFile
import AuthSockets
import AuthTokens
import AuthWire
import GLibRuntime
import Glibc
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// `authd` from its command line to its exit status. Every part of the agent is created here: what it claims, its threads and
/// adapters, its services.
struct Composition: Sendable {
    let reader: ConfigurationReader

    /// - Parameter claims: of ``claim()``, which the first thread has called while there was no other.
    func run(_ claims: Result<Claims, StartRefusal>) async -> ExitStatus {
        do throws(StartRefusal) {
            try await serve(claims.get())
            return .done
        } catch {
            let isBroken = error.status == .badConfiguration
            AgentLog(level: .notice).logger().critical(
                "\(error.message)", metadata: isBroken ? CatalogMessage.brokenSettings.metadata() : [:])
            return error.status
        }
    }

    // MARK: Its threads

    private func serve(_ claims: Claims) async throws(StartRefusal) {
        defer {
            withExtendedLifetime(claims.locks) {
                claims.extra.remove()
                claims.socket.removeIfOurs()
            }
        }
        let settings = claims.configuration.settings
        let log = AgentLog(level: reader.options.logLevel ?? settings.level ?? .info)
        let logger = log.logger()
        claims.sandbox.report(to: logger)
        for name in settings.listeners.names where name != .extra && claims.limited[name] == nil {
            logger.warning(
                "[listener.\(name.rawValue)] is not in use: no socket unit has FileDescriptorName=\(name.rawValue).")
        }
        // Providers have a separate loop: unpacking a long response there delays no client.
        let executor = try StartRefusal.wrapping { try SocketExecutor() }
        let providerLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let transport = try StartRefusal.wrapping(as: .badConfiguration) {
            try AsyncHTTPTransport(
                AsyncHTTPTransport.Configuration(
                    version: Release.version, settings: settings.http, environment: Environment.all()),
                group: providerLoops)
        }
        for notice in transport.notices { logger.warning("\(notice)") }
        let etcd = EtcdConnection(settings.etcd, group: providerLoops)
        // GIO's network monitor may wait for NetworkManager; it has its own thread.
        let (bus, monitors) = try StartRefusal.wrapping(as: .internalError) {
            (try GLibThread(), try GLibThread(name: "glib-monitor"))
        }
        let adapters = try adapters(
            claims, bus: bus, monitors: monitors, loop: providerLoops.next(), etcd: etcd, logger)
        // The sessions of the previous run are decoded while the services are created.
        async let prepared: Void? = adapters.handover?.prepare(of: adapters.store.kind)
        let (services, loader) = await services(
            claims, adapters, transport: transport, executor: executor, log: log)
        // They are restored while the services begin.
        async let restored = loader.restoreHandedOver()
        let failure = await run(services, logger)
        _ = await (prepared, restored)
        await transport.shutdown()
        await etcd.shutdown()
        await executor.stop()
        await adapters.manager?.finish()
        try? await providerLoops.shutdownGracefully()
        if let failure { throw StartRefusal(.internalError, "\(failure)") }
    }

    // MARK: Its adapters

    /// One for each port of AuthModel.
    private struct Adapters {
        let store: MovableStore
        let storeDependencies: StoreAdmin.Dependencies
        let storage: SessionStorage
        let manager: NotificationSocket?
        let handover: DescriptorStore?
        let outbox: SQLiteOutbox
        let network: SystemNetworkWatch
        let sleep: SystemSleepWatch
        let loginSessions: SystemLoginSessions
        let lock: LockFiles?
        let presence: PolkitPresence
        let consent: DesktopConsent
        let desktop: DesktopNotifier
        let signIn: SignInDependencies
        /// Whether the thread of GLib works, and the one of the pool that asks it.
        let busAnswers: Watchdog.Check
    }

    private func adapters(
        _ claims: Claims, bus: GLibThread, monitors: GLibThread, loop: any EventLoop, etcd: EtcdConnection,
        _ logger: Logger
    ) throws(StartRefusal) -> Adapters {
        let configuration = claims.configuration
        let sessionBus = SessionBus.address(environment: Environment.value)
        let systemBus = SystemBus.address(environment: Environment.value)
        @Sendable func stateFolder() throws(StoreError) -> String {
            if let folder = claims.stateFolder { return folder }
            throw .failed(reason: "there is no place for sealed files: neither XDG_STATE_HOME nor HOME is set")
        }
        // Never a weaker one than was requested.
        @Sendable func open(_ kind: StoreKind) throws(StoreError) -> MovableStore.Store {
            switch kind {
            case .memory: return MemoryStore()
            case .secretService:
                return SecretServiceStore(
                    on: bus, address: sessionBus, providerTitle: { configuration.catalog[$0]?.title })
            case .sealedFile:
                let source = KeyFile.source(configuration.settings.sealedKey, environment: Environment.value)
                return SealedFileStore(
                    folder: DurableFolder(path: try stateFolder() + "/sessions"), source: source)
            case .etcd:
                let source = KeyFile.source(configuration.settings.sealedKey, environment: Environment.value)
                return try etcd.store(in: try stateFolder() + "/cluster", sealedBy: source)
            }
        }
        let store: MovableStore
        do throws(StoreError) {
            store = MovableStore(try open(claims.storeKind))
        } catch {
            throw StartRefusal(.badConfiguration, AgentError(error).message)
        }
        let disk = BlockingThread()
        let storeDependencies = StoreAdmin.Dependencies(
            open: { (kind) throws(StoreError) in
                try await disk.complete {
                    Result { () throws(StoreError) -> MovableStore.Store in
                        do throws(StartRefusal) {
                            if kind == .secretService { try claims.locks.claimKeyring() }
                        } catch {
                            throw .failed(reason: error.message)
                        }
                        return try open(kind)
                    }
                }.get()
            },
            configuredStore: { await disk.complete { reader.storeSetting() } },
            choose: { (kind) throws(StoreError) in
                try await StateFile.selectedStore(in: try stateFolder()).save { kind }
            },
            moves: claims.stateFolder.map { StateFile.unfinishedMoves(in: $0) }, bundles: PassphraseBundles())
        // Sessions that end with the agent leave nothing behind for the next one.
        let lastingFolder = claims.storeKind == .memory ? nil : claims.stateFolder
        let manager = NotificationSocket.ofManager(logger: logger)
        let handover = DescriptorStore.ofManager(manager, inherited: claims.handedOver, logger: logger)
        return Adapters(
            store: store, storeDependencies: storeDependencies,
            storage: SessionStorage(
                store: store, pauses: StateFile.pauses(beside: claims.socket.path),
                signOuts: lastingFolder.map { StateFile.signOuts(in: $0) },
                handover: handover, waitsForClients: true),
            manager: manager, handover: handover,
            outbox: SQLiteOutbox(path: lastingFolder.map { $0 + "/outbox.sqlite" }, keys: store),
            network: SystemNetworkWatch(on: bus, monitors: monitors),
            sleep: SystemSleepWatch(on: bus, systemBus: systemBus),
            loginSessions: SystemLoginSessions(on: bus, systemBus: systemBus),
            lock: claims.stateFolder.map { LockFiles(in: $0) },
            presence: PolkitPresence(on: bus, systemBus: systemBus),
            consent: DesktopConsent(on: bus, address: sessionBus),
            desktop: DesktopNotifier(on: bus, address: sessionBus),
            signIn: SignInDependencies(
                cryptography: SystemCryptography(), redirects: LoopbackRedirects(loop: loop), keys: store,
                note: { logger.notice("\($0)") }),
            busAnswers: { await withCheckedContinuation { answer in bus.perform { answer.resume() } } })
    }

    // MARK: Its services

    /// In the order in which they depend on each other. They end in the opposite order.
    private func services(
        _ claims: Claims, _ adapters: Adapters, transport: AsyncHTTPTransport, executor: SocketExecutor, log: AgentLog
    ) async -> ([any Service], SessionLoader) {
        let (settings, socket) = (claims.configuration.settings, claims.socket)
        let (clock, logger, notifier) = (BootClock(), log.logger(), ServiceNotifier(to: adapters.manager))
        let (publisher, cache) = (EventPublisher(), ResponseCache(limit: settings.apiCacheBytes))
        let (hooks, servesBus) = (StateBroadcast<[Hook]>(settings.hooks), StateBroadcast<Bool>(settings.dbus))
        let lockSettings = StateBroadcast<LockSettings>(settings.lock)
        let presenceSettings = StateBroadcast<PresenceSettings>(settings.presence)
        let hookFeed = HookFeed(hooks: hooks)
        let context = AgentContext(
            storeKind: adapters.store.kind, transport: transport, cryptography: adapters.signIn.cryptography,
            clock: clock, network: adapters.network, sleep: adapters.sleep, catalog: claims.configuration.catalog,
            publish: { event in
                cache.handle(event)
                publisher.publish(event)
                hookFeed.handle(event)
            })
        let board = context.board
        let registry = SessionRegistry(
            context: context, storage: adapters.storage, seed: .random(in: .min ... .max))
        let loader = SessionLoader(
            context: context, registry: registry, storage: adapters.storage, seed: .random(in: .min ... .max))
        let sessions = SessionRequests(context: context, registry: registry, storage: adapters.storage)
        let store = StoreAdmin(
            context: context, registry: registry, loader: loader, store: adapters.store,
            dependencies: adapters.storeDependencies)
        let api = APIClient(context: context, registry: registry, kept: cache, seed: .random(in: .min ... .max))
        let policy = CurrentPeerPolicy(PeerPolicy.own(allowing: settings.allowedUserIDs))
        let tables = StateBroadcast<ListenerTables>(settings.listeners)
        let (counters, audit) = (AgentCounters(), AuditLog(clock: clock))
        let accessChanges = AccessChanges(notify: {
            publisher.rulesChanged()
            adapters.storage.handoverLimitChanged()
        })
        let policySources = reader.policySources(stateFolder: claims.stateFolder)
        var (accessPolicy, policyProblems) = policySources.start()
        accessPolicy.presenceSessions = settings.presence.sessions
        for problem in policyProblems { logger.error("\(problem)") }
        if !policyProblems.isEmpty {
            logger.error(
                """
                Until this is fixed, an access rule refuses account and admin requests: correct root's file and reload authd, \
                or run `authc policy apply` if the problem is in the applied copy.
                """)
        }
        let access = AccessControl(accessPolicy, changes: accessChanges)
        adapters.storage.limitHandovers(
            PendingHandover.Limit(
                isWithheld: access.needsPresence(toRelease:), defaultSession: { board.status(nil)?.session }))
        let profileCheck = ProfileCheckProcess()
        let accessRules = PolicyRequests(
            access, behind: tables, from: policySources, readText: profileCheck.read, audit: audit)
        let outbox = Outbox(
            context: context, api: api, store: adapters.outbox, seed: .random(in: .min ... .max),
            decide: access.decision(about:queuedBy:), record: { audit.record($0, of: context) },
            publish: publisher.publish)
        let signInLimit = SignInLimit(clock: clock, perHour: settings.signInsPerHour)
        let defaultSession = DefaultSessionSettings(
            board: board, folders: FolderRulesFile(beside: socket.path, home: Environment.value("HOME")),
            logger: logger)
        await defaultSession.apply(settings)
        board.put(waitsIfMetered: settings.waitsIfMetered)
        let showsNotices = StateBroadcast<Bool>(settings.notifications)
        let restart = ProgramRestart.ofThisProcess(claims.program, clock: clock)
        let reloader = Reloader(
            current: claims.configuration, read: reader.read, board: board, registry: registry, policy: policy,
            tables: tables, sockets: Set(claims.limited.keys), accessRules: accessRules, accessChanges: accessChanges,
            signInLimit: signInLimit,
            openExtra: { settings throws(StartRefusal) in
                try claims.extra.listen(at: try reader.extraSocketPath(settings, beside: claims.limited))
            },
            chosen: defaultSession, showsNotices: showsNotices, hooks: hooks, servesBus: servesBus,
            lock: lockSettings, presence: presenceSettings,
            sandbox: SandboxAdvice(isRestricted: claims.sandbox.rules != nil, extraSocket: reader.likelyExtraSocket),
            log: log,
            fixedLevel: reader.options.logLevel != nil, fixedStore: reader.options.store != nil,
            restartCommands: restart.commands, notifier: notifier)
        let trials = ProfileTrials(context: context)
        let signIns = SignInService(
            context: context, registry: registry, loader: loader, dependencies: adapters.signIn,
            isGuarded: access.needsPresence(toRelease:))
        let presence = PresenceService(context: context, check: adapters.presence)
        let consent = ConsentService(
            context: context, prompt: adapters.consent, hasLoginSession: adapters.loginSessions.isOneOpen,
            log: { logger.notice("\($0)") })
        let lent = LentSignIns(
            context: context, registry: registry, dependencies: adapters.signIn, browser: DesktopBrowser(),
            desktop: adapters.desktop, showsNotices: { showsNotices.current ?? true })
        let lock = LockService(
            LockService.Dependencies(
                context: context, registry: registry, storage: adapters.storage, signIns: signIns,
                store: adapters.lock,
                endAccepted: {
                    await publisher.endAcceptedRequests()
                    await presence.agentLocked()
                    await consent.agentLocked()
                }, log: { logger.notice("\($0)") },
                record: { audit.record(AuditedRequest(method: AgentLock.name), by: nil, rule: $0.rawValue) }))
        let activity = AgentActivity(
            counters: counters, context: context, signIns: signIns,
            needsPassphrase: KeyFile.source(settings.sealedKey, environment: Environment.value).needsUser,
            handsOver: adapters.storage.handsOver)
        let dispatcher = Dispatcher(
            context: context, sessions: sessions,
            signIns: signIns, api: api, outbox: outbox, store: store, lock: lock,
            services: AgentServices(
                clock: clock, counters: counters, tokenRequests: context.tokenRequests,
                checkProfile: profileCheck.check,
                tryProfile: { params async throws(AgentError) in try await trials.run(params, readBy: profileCheck) },
                reload: { params async throws(AgentError) in
                    params.check ? try await reloader.check() : try await reloader.reload()
                },
                restart: { names async throws(AgentError) in
                    _ = try await restart.begin { () throws(AgentError) in
                        if let refusal = activity.refusal(naming: names) { throw refusal }
                        return true
                    }
                }, restartInfo: { restart.info(activity.lastingObstacle) }, program: claims.program,
                landlock: (claims.sandbox.state, claims.sandbox.notes), listeners: Array(claims.limited.keys)),
            policy: accessRules, audit: audit, signInLimit: signInLimit, presence: presence, consent: consent,
            lent: lent)
        let stop = ShutdownDeadline()
        let listener = Listener(
            sockets: claims.limited.merging([.api: socket]) { $1 }, extra: claims.extra, executor: executor,
            dispatcher: dispatcher, board: board,
            policy: policy,
            tables: tables, changes: accessChanges, publisher: publisher, limits: .ofThisProcess, counters: counters,
            clock: clock,
            logger: logger,
            bus: SessionBusAccess(address: SessionBus.address(environment: Environment.value), isOn: servesBus),
            opening: { await loader.ready() },
            accepting: {
                loader.clientsAreServed()
                var place: Logger.Metadata = [
                    "socket": "\(socket.path)", "store": "\(adapters.store.kind.rawValue)",
                ]
                place["extra_socket"] = claims.extra.path.map { "\($0)" }
                let limited = claims.limited.sorted { $0.key < $1.key }
                if !limited.isEmpty {
                    place["limited_sockets"] = .array(limited.map { "\($0.key.rawValue)=\($0.value.path)" })
                }
                logger.notice("Serving.", metadata: place)
                notifier.ready(status: StatusLine.text(board))
            },
            stopping: {
                stop.begin(at: clock.now().boot)
                notifier.stopping()
            })

        let program = restart.isPossible ? claims.program : nil
        let upgrade = program.map {
            UpgradeService(program: $0, restart: restart, activity: activity, clock: clock, logger: logger)
        }
        let watchdog = ServiceNotifier.watchdogInterval().map { interval in
            Watchdog(
                executor: executor, interval: interval, notifier: notifier,
                checks: [
                    adapters.busAnswers, registry.answers, outbox.answers, lock.answers, ProcessReader.answers,
                ],
                onBeat: {
                    adapters.handover?.retry()
                    upgrade?.look()
                })
        }
        let services: [(any Service)?] = [
            watchdog,
            ProcessReaderService(),
            BackgroundService(name: "audit", work: { await audit.run(in: log) }),
            BackgroundService(name: "store", work: adapters.store.run),
            SessionsBackgroundService(loader: loader, registry: registry, clock: clock, logger: logger, stop: stop),
            BackgroundService(
                name: "lock",
                work: {
                    await lock.run(
                        settings: lockSettings, sleep: adapters.sleep, loginSessions: adapters.loginSessions)
                }),
            BackgroundService(name: "presence", work: { await presence.run(settings: presenceSettings) }),
            BackgroundService(name: "consent", work: consent.run),
            BackgroundService(name: "outbox", work: outbox.run),
            BackgroundService(name: "unfinished moves", work: store.finishMoves),
            StatusPublisher(
                board: board, prompt: AtomicFile(path: PromptPath.beside(socket: socket.path)), notifier: notifier,
                logger: logger),
            NoticeService(
                context: context, registry: registry, sessions: sessions, loader: loader, desktop: adapters.desktop,
                isOn: showsNotices, windows: WindowProgram(beside: claims.program?.path, socket: socket.path),
                publish: publisher.publish, logger: logger),
            HookService(context: context, feed: hookFeed, logger: logger),
            ReloadSignal(reloader: reloader, audit: audit),
            upgrade,
            listener,
        ]
        return (services.compactMap(\.self), loader)
    }
}
