package import AuthWire
internal import Synchronization

/// Every session of the agent, and all that can be asked of them.
///
/// Invariant: a name has at most one ``Session``; the board shows what its machine last published.
package final class SessionTable: Sendable {
    private struct Entries {
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
    let provider: ProviderCalls
    let store: any SessionStore
    let clock: any SystemClock
    /// Every request to a provider goes through it.
    package let transport: any HTTPTransport
    private let network: NetworkKeeper
    let workshop = Workshop()
    private let alarms: Alarms<SessionName>
    private let entries: Mutex<Entries>
    private let firstLoad = Latch()
    private let gate: RenewalGate
    private let pauses: Pauses
    let signOuts: SignOuts

    /// - Parameters:
    ///   - cryptography: `nil`: nothing can be signed, so that no token is bound to a key.
    ///   - pauses: where the waits after failed tries outlive a run; `nil`: nowhere.
    ///   - signOuts: where sign-outs do that the store has not carried out.
    ///   - seed: of all jitter.
    ///   - publish: called at each change; it must not wait.
    package init(
        store: any SessionStore, transport: any HTTPTransport, cryptography: (any Cryptography)? = nil,
        clock: any SystemClock, network: any NetworkWatch,
        sleep: any SleepWatch = NeverSleeps(), catalog: ProfileCatalog, pauses: (any PauseKeeper)? = nil,
        signOuts: (any SignOutKeeper)? = nil, seed: UInt64,
        publish: @escaping @Sendable (AgentEvent) -> Void
    ) {
        self.store = store
        self.clock = clock
        self.network = NetworkKeeper(watch: network, sleep: sleep, transport: transport, clock: clock)
        self.transport = GuardedTransport(transport, network: self.network)
        self.catalog = CurrentCatalog(catalog)
        provider = ProviderCalls(
            catalog: self.catalog, transport: self.transport,
            signer: ProofSigner(
                cryptography: cryptography, clock: clock, skew: { [keeper = self.network] in await keeper.skew(of: $0) }
            ))
        board = StateBoard(storeKind: store.kind, clock: clock, tell: publish)
        alarms = Alarms(clock: clock)
        gate = RenewalGate(clock: clock, workshop: workshop)
        self.pauses = Pauses(keeper: pauses)
        self.signOuts = SignOuts(keeper: signOuts)
        entries = Mutex(Entries(seeds: SeededRandom(seed: seed)))
    }

    // MARK: The background

    /// Keeps the sessions until it is cancelled; whoever still waits then is told that the agent stops.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.workshop.run() }
            group.addTask { await self.alarms.run { await self.wake($0) } }
            group.addTask { await self.watchStore() }
            group.addTask { await self.followNetwork() }
        }
        for session in sessions { await session.close() }
        firstLoad.open()
    }

    /// Returns once the store has been asked for the first time: from then on every answer is a true one.
    package func ready() async {
        await firstLoad.wait()
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
            await session.handle(.renewable(provider.canRenew(await session.record)))
        }
        await tellPlaces()
    }

    private func wake(_ names: [SessionName]) async {
        for name in names { await session(named: name)?.handle(.wake) }
    }

    private func followNetwork() async {
        await network.run(
            NetworkKeeper.Reactions(
                publish: { [board] in board.put(network: $0, providers: $1) },
                publishSkews: { [board] in board.put(clockSkews: $0) },
                tell: { for session in self.sessions { await self.tellNetwork(session) } },
                prepareForSleep: { await self.drain() },
                clockSet: { for session in self.sessions { await session.handle(.clockSet) } }))
    }

    private func tellNetwork(_ session: Session) async {
        let state = await network.state(of: provider.probe(await session.record)?.origin)
        await session.handle(.networkChanged(state))
    }

    /// Where the providers of all sessions are, for the network to look after.
    private func tellPlaces() async {
        var places: [String: Set<Probe>] = [:]
        for session in sessions {
            let record = await session.record
            if let probe = provider.probe(record) { places[record.provider, default: []].insert(probe) }
        }
        await network.use(places)
    }

    private func watchStore() async {
        await load()
        firstLoad.open()
        for await state in store.states() {
            guard state == .ready else {
                // Why it failed is told by the call that has, not by the state.
                let isKnown = state == .failed && board.store.state == .failed
                board.put(store: state, message: isKnown ? board.store.message : nil)
                if !isLoaded { await showLocked() }
                continue
            }
            if !isLoaded { await load() } else { board.put(store: .ready, message: damage) }
            for session in sessions { await session.handle(.storeReady) }
        }
    }

    /// Picks up every session that the store holds and memory does not.
    private func load() async {
        do throws(StoreError) {
            var damaged: [String: String] = [:]
            for stored in try await store.loadAll() {
                switch stored {
                case .record(let record) where signOuts.cover(record): await remove(record)
                case .record(let record):
                    signOuts.end(record.session)
                    await pickUp(record)
                case .damaged(let session, let reason): damaged[session] = reason
                }
            }
            entries.withLock { entries in
                entries.loaded = true
                entries.damaged = damaged
            }
            board.removeHeralds(in: .keyringLocked)
            board.put(storeKind: store.kind)
            await tellPlaces()
            board.put(store: .ready, message: damage)
        } catch {
            board.put(store: StoreState(error), message: error == .dismissed ? nil : AgentError(error).message)
            await showLocked()
            if error.endsUntold { readAgainLater() }
        }
    }

    /// Carries out a sign-out that an earlier run could not.
    private func remove(_ record: SessionRecord) async {
        // Whose machine is still there removes it by itself.
        guard session(named: record.session) == nil else { return }
        // Tried again when the store is next read; until then it is no session all the same.
        guard (try? await store.delete(record.session)) != nil else { return }
        signOuts.end(record.session)
    }

    /// What a person is told of records that were left untouched.
    private var damage: String? {
        let damaged = entries.withLock { $0.damaged }.sorted { $0.key < $1.key }
        guard !damaged.isEmpty else { return nil }
        return damaged.map { "What is kept of session \($0.key) cannot be read (\($0.value))." }.joined(separator: " ")
            + " Signing in to it again replaces it."
    }

    /// Looks for what has come into the store by another way than a sign-in; what is unwritten is written there.
    func storeWasReplaced() async {
        await load()
        for session in sessions { await session.handle(.storeReady) }
    }

    /// Reads a store that nothing will be heard of again, ever more seldom, until that succeeds.
    private func readAgainLater() {
        let wait = entries.withLock { entries -> Duration? in
            guard !entries.willReadAgain else { return nil }
            entries.willReadAgain = true
            return entries.reading.next(retryAfter: nil, using: &entries.seeds)
        }
        guard let wait else { return }
        let due = clock.now().boot + wait
        workshop.order {
            // Cancelled only when the agent stops.
            guard (try? await self.clock.sleep(until: due)) != nil else { return }
            self.entries.withLock { $0.willReadAgain = false }
            guard !self.isLoaded else { return }
            await self.load()
            for session in self.sessions { await session.handle(.storeReady) }
        }
    }

    /// A store that is locked still tells which sessions it holds: they are there, and not signed out.
    private func showLocked() async {
        guard [.locked, .denied].contains(board.store.state) else { return }
        // What cannot be told stays unsaid: the store's own state says why.
        for name in (try? await store.names()) ?? []
        where session(named: name.session) == nil && !signOuts.include(name.session) {
            board.put(herald: .locked(name, in: board.store))
        }
    }

    /// A person wants to sign in: the store is looked at anew, and may ask them to unlock it.
    func personIsHere() async {
        guard !isLoaded || board.store.state != .ready else { return }
        await store.personIsHere()
        await load()
    }

    /// Has the store looked at anew without waiting for it, as a person is there.
    package func tryStoreNow() {
        workshop.order { await self.personIsHere() }
    }

    /// Has a session renewed without waiting for it. What comes of that is seen in its status.
    package func tryNow(_ session: SessionName) {
        workshop.order { try? await self.session(named: session)?.renew() }
    }

    private func pickUp(_ record: SessionRecord) async {
        guard session(named: record.session) == nil else { return }
        let machine = SessionMachine(
            stored: record, canRenew: provider.canRenew(record), pause: pauses[record.session], now: clock.now(),
            seed: nextSeed())
        let session = add(machine, named: record.session)
        await tellNetwork(session)
        await session.begin()
        // Such a session is good only as long as the provider says so: it is asked, and serves meanwhile.
        if catalog.profiles[record.provider]?.renewal.kind == .validate { await session.handle(.checkDue) }
    }

    // MARK: Entries

    var isLoaded: Bool { entries.withLock { $0.loaded } }
    var sessions: [Session] { entries.withLock { Array($0.sessions.values) } }
    private func nextSeed() -> UInt64 { entries.withLock { $0.seeds.next() } }

    func session(named name: SessionName) -> Session? { entries.withLock { $0.sessions[name] } }

    /// The session asked for, or the default one.
    /// - Throws: `unknown_session` or `not_signed_in`; the store's own error where it could not be read yet.
    func session(_ name: SessionName?) throws(AgentError) -> Session {
        if let name = name ?? board.snapshot(nil)?.status.session, let session = session(named: name) {
            return session
        }
        if !isLoaded { board.noteStoreWanted() }
        throw absence(of: name)
    }

    func absence(of name: SessionName?) -> AgentError {
        guard isLoaded else { return .storeNotRead(board.store) }
        if let damage, name.map({ name in entries.withLock { $0.damaged[name.text] != nil } }) ?? true {
            return AgentError(name == nil ? .notSignedIn : .unknownSession, damage, cause: "damaged")
        }
        return name.map(AgentError.unknownSession) ?? .noSession
    }

    /// Takes a session that was just signed in; returns when it is in the store, or the store has refused it.
    func signedIn(_ record: SessionRecord, sentAt: Moment) async throws(AgentError) -> SessionStatus {
        let session = await install(record, sentAt: sentAt)
        await tellPlaces()
        await tellNetwork(session)
        try await session.write()
        let wasDamaged = entries.withLock { $0.damaged.removeValue(forKey: record.session.text) } != nil
        if wasDamaged { board.put(store: .ready, message: damage) }
        return try status(record.session)
    }

    private func install(_ record: SessionRecord, sentAt: Moment) async -> Session {
        let canRenew = provider.canRenew(record)
        // A session on its way out may be forgotten while it is told of the new sign-in: then there is none.
        while let session = session(named: record.session) {
            await session.handle(.renewable(canRenew))
            await session.handle(.replaced(record, sentAt: sentAt))
            if self.session(named: record.session) === session { return session }
        }
        let machine = SessionMachine(
            signedIn: record, sentAt: sentAt, canRenew: canRenew, now: clock.now(), seed: nextSeed())
        let session = add(machine, named: record.session)
        await session.begin()
        return session
    }

    private func add(_ machine: SessionMachine, named name: SessionName) -> Session {
        let world = SessionWorld(
            store: store, provider: provider, clock: clock, workshop: workshop, alarms: alarms, gate: gate,
            publish: { [weak self, board, pauses] snapshot in
                let name = snapshot.status.session
                pauses.set(snapshot.pause, for: name)
                let isNewToken = board.snapshot(name)?.token != snapshot.token
                board.put(snapshot)
                if isNewToken { self?.forgetAnswers() }
            }, forget: { [weak self] in self?.forget($0) })
        return entries.withLock { entries in
            if let session = entries.sessions[name] { return session }
            let session = Session(name: name, machine: machine, world: world)
            entries.sessions[name] = session
            return session
        }
    }

    /// Unless another session has its name by now.
    private func forget(_ session: Session) {
        let isOurs = entries.withLock { entries in
            guard entries.sessions[session.name] === session else { return false }
            entries.sessions[session.name] = nil
            return true
        }
        guard isOurs else { return }
        alarms.set(nil, for: session.name)
        pauses.set(nil, for: session.name)
        signOuts.end(session.name)
        board.remove(session.name)
        workshop.order { await self.tellPlaces() }
        forgetAnswers()
    }

    /// A connection that is kept keeps the last answer that it brought, with a token in it perhaps.
    private func forgetAnswers() {
        workshop.order { await self.transport.dropConnections() }
    }
}

extension SessionStatus {
    fileprivate static func locked(_ name: StoredName, in store: StoreInfo) -> SessionStatus {
        SessionStatus(
            session: name.session, provider: name.provider, state: .keyringLocked, cause: "keyring_locked",
            message: AgentError.storeNotRead(store).message, store: store.kind)
    }
}

extension StoreError {
    /// A store that is locked, refused or not there tells when that is over; one that failed may not know it did.
    fileprivate var endsUntold: Bool {
        switch self {
        case .failed, .notAnswering: true
        case .locked, .dismissed, .sealed, .missing, .denied: false
        }
    }
}

extension StoreState {
    init(_ error: StoreError) {
        self =
            switch error {
            case .locked, .sealed: .locked
            case .missing: .missing
            case .failed: .failed
            case .dismissed, .denied: .denied
            case .notAnswering: .notAnswering
            }
    }
}
