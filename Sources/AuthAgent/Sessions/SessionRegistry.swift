internal import AuthMachines
package import AuthModel
package import AuthWire
internal import Synchronization

/// Every session of the agent, and all that can be asked of them.
///
/// Invariant: a name has at most one ``Session``; the board shows what its machine last published.
package final class SessionRegistry: Sendable {
    struct Entries {
        var sessions: [SessionName: Session] = [:]
        /// The store has been read; until then, what is not here may still be there.
        var loaded = false
        /// Of sessions whose record cannot be understood: why, by what the store calls them.
        var damaged: [String: String] = [:]
        /// Of reading the store again that failed.
        var reading = Backoff()
        var willReadAgain = false
        var seeds: SeededRandom
    }

    package let board: StateBoard
    package let catalog: CurrentCatalog
    let provider: ProviderClient
    let store: any SessionStore
    let clock: any SystemClock
    /// Every request to a provider goes through it.
    package let transport: any HTTPTransport
    private let network: NetworkMonitor
    let tasks: AgentTasks
    var workshop: TaskPool { tasks.pool }
    package var context: AgentContext {
        AgentContext(
            clock: clock, catalog: catalog, providers: provider, board: board, tasks: tasks, transport: transport)
    }
    let entries: Mutex<Entries>
    let serving = Latch()
    let firstLoad = Latch()
    private let renewals: Runner<RenewalQueue>
    let handovers: PendingHandover
    let pauses: RenewalPauses
    let signOuts: PendingSignOuts

    /// - Parameters:
    ///   - cryptography: `nil`: nothing can be signed, so that no token is bound to a key.
    ///   - pauses: where the waits after failed tries outlive a run; `nil`: nowhere.
    ///   - signOuts: where sign-outs do that the store has not carried out.
    ///   - handover: where the next run gets sessions from without asking the store.
    ///   - seed: of all jitter.
    ///   - publish: called at each change; it must not wait.
    package init(
        store: any SessionStore, transport: any HTTPTransport, cryptography: (any Cryptography)? = nil,
        clock: any SystemClock, network: any NetworkWatch,
        sleep: any SleepWatch = NeverSleeps(), catalog: ProfileCatalog,
        pauses: (any StateStore<[SessionName: RenewalPause]>)? = nil,
        signOuts: (any StateStore<[SessionName: SignInID]>)? = nil, handover: (any HandoverStore)? = nil, seed: UInt64,
        publish: @escaping @Sendable (AgentEvent) -> Void
    ) {
        self.store = store
        self.clock = clock
        tasks = AgentTasks(clock: clock)
        self.network = NetworkMonitor(watch: network, sleep: sleep, transport: transport, tasks: tasks)
        self.transport = GuardedTransport(transport, network: self.network)
        self.catalog = CurrentCatalog(catalog)
        provider = ProviderClient(
            catalog: self.catalog, transport: self.transport,
            signer: ProofSigner(
                cryptography: cryptography, clock: clock,
                skew: { [network = self.network] in await network.skew(of: $0) }
            ))
        board = StateBoard(storeKind: store.kind, clock: clock, tell: publish)
        renewals = Runner(RenewalQueue(), performer: NoActions(), tasks: tasks)
        self.pauses = RenewalPauses(store: pauses)
        self.signOuts = PendingSignOuts(store: signOuts)
        handovers = PendingHandover(keeper: handover)
        entries = Mutex(Entries(seeds: SeededRandom(seed: seed)))
    }

    // MARK: The background

    /// Keeps the sessions until it is cancelled; whoever still waits then is told that the agent stops.
    /// - Parameter last: done when it is cancelled, before the sessions end.
    package func run(last: (@Sendable () async -> Void)? = nil) async {
        await tasks.run(services: [watchStore, watchOthers, followNetwork], last: last)
        for session in sessions { await session.close() }
        await renewals.close()
        serving.stop()
        firstLoad.stop()
    }

    /// Returns once the run before has handed over its sessions, or the store has been asked for the first time: from then
    /// on every answer is a true one. Returns early if the task is cancelled, or the sessions are not kept any more.
    package func ready() async {
        try? await serving.wait()
    }

    /// Before the end: no renewal begins any more, those whose requests are in flight are waited for until the deadline, and
    /// what they bring is written with the rest. A rotated refresh token that is not waited for is lost.
    package func finish(until deadline: BootInstant) async {
        await renewals.close()
        await withTaskGroup(of: Void.self) { [clock] group in
            group.addTask { for session in self.sessions { await session.requestsEnded() } }
            group.addTask { try? await clock.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
        await drain()
    }

    /// Writes what is unwritten, as far as the store takes it.
    package func drain() async {
        await withDiscardingTaskGroup { group in
            for session in sessions {
                // What the store refuses is told in the session's status; there is nobody left to tell it to.
                group.addTask { try? await session.write() }
            }
        }
    }

    /// Takes new profiles. Sessions go on with them from their next request on.
    package func reload(_ profiles: ProfileCatalog) async {
        catalog.profiles = profiles
        for session in sessions {
            await session.profilesChanged()
            await session.checkOrigins()
        }
        await updateNetworkOrigins()
    }

    private func followNetwork() async {
        await network.run(
            NetworkMonitor.Reactions(
                publish: { [board] in board.put(network: $0, providers: $1) },
                publishSkews: { [board] in board.put(clockSkews: $0) },
                notifySessions: { for session in self.sessions { await self.sendNetworkState(session) } },
                prepareForSleep: { await self.drain() },
                clockSet: { for session in self.sessions { await session.handle(.clockSet) } }))
    }

    func sendNetworkState(_ session: Session) async {
        while true {
            let origin = await session.origin
            if await session.networkChanged(await network.news(of: origin), at: origin) { return }
        }
    }

    /// Where the providers of all sessions are, for the network to look after.
    func updateNetworkOrigins() async {
        var places: [String: Set<Probe>] = [:]
        for session in sessions {
            let record = await session.record
            if let probe = provider.probe(record) { places[record.provider, default: []].insert(probe) }
        }
        await network.use(places)
    }

    /// Has a session renewed without waiting for it. What comes of that is seen in its status.
    package func renewNow(_ session: SessionName) {
        workshop.order { try? await self.session(named: session)?.renew() }
    }

    func loadSession(_ record: SessionRecord, handedOver: HandedOverSession? = nil) async {
        guard session(named: record.session) == nil else { return }
        let (means, pause, seed) = (provider.means(of: record), pauses[record.session], nextSeed())
        let machine =
            if let handedOver {
                SessionMachine(handedOver: handedOver, means: means, pause: pause, now: clock.now(), seed: seed)
            } else {
                SessionMachine(stored: record, means: means, pause: pause, now: clock.now(), seed: seed)
            }
        let session = add(machine, named: record.session)
        // Before anything could be sent.
        await session.checkOrigins()
        await sendNetworkState(session)
        await session.begin()
        // Such a session is good only as long as the provider says so: it is asked, and serves meanwhile.
        if catalog.profiles[record.provider]?.renewal.kind == .validate { await session.handle(.checkDue) }
    }

    // MARK: The default session

    /// The only session stays the default one when others come.
    func keepDefault(besides newcomer: SessionName? = nil) async {
        let sessions = sessions
        guard sessions.count == 1, let only = sessions.first, only.name != newcomer else { return }
        await only.handle(.defaultImplied)
    }

    /// Removes former choices for good, so that the next run does not go back to one of them.
    func endDefault(_ marks: [SessionName: WallTime]) async {
        for (name, date) in marks { await session(named: name)?.handle(.defaultEnded(since: date)) }
    }

    // MARK: Entries

    var isLoaded: Bool { entries.withLock { $0.loaded } }
    var sessions: [Session] { entries.withLock { Array($0.sessions.values) } }
    func nextSeed() -> UInt64 { entries.withLock { $0.seeds.next() } }

    func session(named name: SessionName) -> Session? { entries.withLock { $0.sessions[name] } }

    /// The session asked for, or the default one.
    /// - Throws: `unknown_session` or `not_signed_in`; the store's own error where it could not be read yet.
    func session(_ name: SessionName?) async throws(AgentError) -> Session {
        if let session = present(name) { return session }
        // What was handed over is served before the store is asked, and it may hold more.
        try await firstLoad.wait()
        if let session = present(name) { return session }
        if !isLoaded { board.recordStoreRequest() }
        throw absence(of: name)
    }

    private func present(_ name: SessionName?) -> Session? {
        (name ?? board.snapshot(nil)?.status.session).flatMap { session(named: $0) }
    }

    func absence(of name: SessionName?) -> AgentError {
        guard isLoaded else { return .storeNotRead(board.store) }
        if name == nil, board.sessionCount > 0 { return .noDefault(board.statuses()) }
        if let damage, name.map({ name in entries.withLock { $0.damaged[name.text] != nil } }) ?? true {
            return AgentError(name == nil ? .notSignedIn : .unknownSession, damage, cause: "damaged")
        }
        return name.map(AgentError.unknownSession) ?? .noSession
    }

    /// Adds a session that was just signed in; returns when it is in the store, or the store has refused it.
    /// - Parameter revokesFormer: see ``Session/replace(with:sentAt:revokesFormer:)``.
    func signedIn(
        _ record: SessionRecord, sentAt: Moment, revokesFormer: Bool = false
    ) async throws(AgentError) -> SessionStatus {
        await keepDefault(besides: record.session)
        let session = await install(record, sentAt: sentAt, revokesFormer: revokesFormer)
        // The profile may have changed while the user signed in.
        await session.checkOrigins()
        await updateNetworkOrigins()
        await sendNetworkState(session)
        try await session.write()
        if board.status(record.session)?.unsaved == false {
            signOuts.end(before: record)
            workshop.order { _ = await self.signOuts.keep() }
        }
        let wasDamaged = entries.withLock { $0.damaged.removeValue(forKey: record.session.text) } != nil
        if wasDamaged { board.put(store: .ready, message: damage) }
        return try status(record.session)
    }

    private func install(_ record: SessionRecord, sentAt: Moment, revokesFormer: Bool) async -> Session {
        // A session that is being signed out may be forgotten before it learns of the new sign-in: then there is none.
        while let session = session(named: record.session) {
            await session.replace(with: record, sentAt: sentAt, revokesFormer: revokesFormer)
            if self.session(named: record.session) === session { return session }
        }
        let machine = SessionMachine(
            signedIn: record, sentAt: sentAt, means: provider.means(of: record), now: clock.now(), seed: nextSeed())
        let session = add(machine, named: record.session)
        await session.begin()
        return session
    }

    func add(_ machine: SessionMachine, named name: SessionName) -> Session {
        let world = SessionDependencies(
            store: store, provider: provider, tasks: tasks, renewals: renewals, handovers: handovers,
            publish: { [weak self, board, pauses] snapshot in
                let name = snapshot.status.session
                pauses.set(snapshot.pause, for: name)
                let isNewToken = board.snapshot(name)?.token != snapshot.token
                board.put(snapshot)
                if isNewToken { self?.closeConnections(of: snapshot.status) }
            }, forget: { [weak self] in self?.forget($0, $1) })
        return entries.withLock { entries in
            if let session = entries.sessions[name] { return session }
            let session = Session(name: name, machine: machine, world: world)
            entries.sessions[name] = session
            return session
        }
    }

    /// Unless another session has its name by now. The name is free only after everything of this session is gone: a new
    /// one of that name would lose its own.
    private func forget(_ name: SessionName, _ runner: Runner<SessionMachine>) {
        guard let session = session(named: name), session.isRun(by: runner) else { return }
        let last = board.status(session.name)
        pauses.set(nil, for: session.name)
        signOuts.end(session.name)
        let wasDefault = board.defaultChange(removing: session.name).now == session.name
        let marks = wasDefault ? board.defaultMarks(besides: session.name) : [:]
        board.remove(session.name)
        entries.withLock { $0.sessions[session.name] = nil }
        workshop.order {
            await self.endDefault(marks)
            await self.updateNetworkOrigins()
            _ = await self.signOuts.keep()
        }
        if let last { closeConnections(of: last) }
    }

    /// A connection that is kept keeps the last request and answer that it brought, with a token of this session in it
    /// perhaps. Those of other providers are left alone.
    private func closeConnections(of session: SessionStatus) {
        workshop.order {
            await self.transport.closeIdleConnections(to: await self.provider.origins(of: session))
        }
    }
}
