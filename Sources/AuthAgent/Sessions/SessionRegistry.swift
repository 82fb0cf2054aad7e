package import AuthMachines
package import AuthModel
package import AuthWire
internal import Synchronization

/// The sessions of the agent, by name.
///
/// Invariant: a name has at most one ``Session``; the board shows what its machine last published.
package final class SessionRegistry: Sendable {
    private struct Entries {
        var sessions: [SessionName: Session] = [:]
        /// The store has been read. Before that, a session that is not here may still be in the store.
        var isLoaded = false
        /// Why records could not be decoded, by the name that the store has for the session.
        var damaged: [String: String] = [:]
        /// Sessions that have ended while the store is being read; `nil`: it is not.
        var endedSince: Set<SessionName>?
        var lastReading: UInt64 = 0
        var seeds: SeededRandom
        /// Created with the first session and shared by all.
        var services: SessionPerformer.Services?
    }

    let context: AgentContext
    let storage: SessionStorage
    private let renewals: Runner<RenewalQueue>
    let holds: RenewalHolds
    /// Passed by requests that may return new tokens.
    let renewalGate = MoveGate()
    /// Opens after the first try to read the store.
    private let firstLoad = Latch()
    private let entries: Mutex<Entries>
    private let origins = CommonOrigins()
    /// The names of sessions that have ended, for one reader.
    let ends: AsyncStream<SessionName>
    private let tellEnd: AsyncStream<SessionName>.Continuation

    /// - Parameter seed: of all jitter.
    package init(context: AgentContext, storage: SessionStorage, seed: UInt64) {
        self.context = context
        self.storage = storage
        renewals = Runner(RenewalQueue(), performer: NoActions(), tasks: context.tasks)
        holds = RenewalHolds(store: storage.store, tasks: context.tasks)
        entries = Mutex(Entries(seeds: SeededRandom(seed: seed)))
        (ends, tellEnd) = AsyncStream.makeStream()
    }

    var board: StateBoard { context.board }

    // MARK: Lookup

    var all: [Session] { entries.withLock { Array($0.sessions.values) } }

    var isLoaded: Bool { entries.withLock { $0.isLoaded } }

    package func session(named name: SessionName) -> Session? { entries.withLock { $0.sessions[name] } }

    /// What signs in to the session again; `nil` if it is gone, or its profile.
    package func signInCommand(of name: SessionName) async -> SignInCommand? {
        guard let record = await session(named: name)?.record else { return nil }
        return context.providers.profile(of: record).map { SignInCommand(of: record, at: $0) }
    }

    /// The requested session, or the default one.
    /// - Throws: `unknown_session` or `not_signed_in`; the store's own error if it has not been read yet.
    package func session(_ name: SessionName?) async throws(AgentError) -> Session {
        if let session = present(name) { return session }
        // A session that was handed over is served before the store is read. Others may be in the store.
        try await firstLoad.wait()
        if let session = present(name) { return session }
        if !isLoaded { board.recordStoreRequest() }
        throw absence(of: name)
    }

    private func present(_ name: SessionName?) -> Session? {
        (name ?? board.snapshot(nil)?.status.session).flatMap { session(named: $0) }
    }

    package func status(_ session: SessionName?) throws(AgentError) -> SessionStatus {
        guard let status = board.status(session) else { throw absence(of: session) }
        return status
    }

    /// Why there is no such session.
    func absence(of name: SessionName?) -> AgentError {
        guard isLoaded else { return .storeNotRead(board.store) }
        if name == nil, board.sessionCount > 0 { return .noDefault(board.statuses()) }
        if let damage, name.map({ name in entries.withLock { $0.damaged[name.text] != nil } }) ?? true {
            return AgentError(name == nil ? .notSignedIn : .unknownSession, damage, cause: "damaged")
        }
        return name.map(AgentError.unknownSession) ?? .noSession
    }

    /// The message about records that could not be decoded and were left as they are.
    var damage: String? {
        let damaged = entries.withLock { $0.damaged }.sorted { $0.key < $1.key }
        guard !damaged.isEmpty else { return nil }
        return damaged.map { "The record of session \($0.key) cannot be read (\($0.value))." }.joined(separator: " ")
            + " Signing in to it again replaces it, unless a newer authd wrote it."
    }

    // MARK: Addition

    /// Adds a session from the store, or from the run before.
    /// - Parameter isLoad: whether everything was read, since ``loadBegins()``.
    /// - Returns: `false` if the session has ended since then: what was read of it may be older than that.
    @discardableResult
    func restore(_ record: SessionRecord, handedOver: HandedOverSession? = nil, isLoad: Bool = false) async -> Bool {
        guard session(named: record.session) == nil else { return true }
        var (record, handedOver) = (record, handedOver)
        origins.share(with: &record)
        handedOver?.record = record
        let (means, pause) = (context.providers.means(of: record), storage.pauses[record.session])
        let (now, change) = (context.clock.now(), context.providers.originChange(of: record))
        let added = add(named: record.session, unlessEnded: isLoad) { seed in
            let machine =
                if let handedOver {
                    SessionMachine(handedOver: handedOver, means: means, pause: pause, now: now, seed: seed)
                } else {
                    SessionMachine(stored: record, means: means, pause: pause, now: now, seed: seed)
                }
            return machine.restored(after: change)
        }
        guard let (session, _) = added else { return false }
        // The network's state is read when the session is there: a change after that is sent to all sessions.
        let origin = context.providers.probe(record)?.origin
        let news = await context.network.news(of: origin)
        let isAtOrigin = await session.beginRestored(isShared: storage.store.leases != nil, news, at: origin)
        if !isAtOrigin { await sendNetworkState(session) }
        // Only the provider knows whether such a session is valid. It is served until the provider has answered.
        if context.providers.validates(record) { await session.handle(.checkDue) }
        return true
    }

    /// The store is about to be read.
    func loadBegins() { entries.withLock { $0.endedSince = [] } }

    /// What was read is in use now, or could not be read.
    func loadEnds() { entries.withLock { $0.endedSince = nil } }

    /// The store has been read.
    /// - Parameter damaged: why records could not be decoded, by session.
    func loaded(damaged: [String: String]) {
        entries.withLock { entries in
            entries.isLoaded = true
            entries.damaged = damaged
        }
    }

    /// A host that shares the store has written something that cannot be read.
    func recordIsDamaged(_ session: SessionName, _ reason: String) {
        entries.withLock { $0.damaged[session.text] = reason }
    }

    /// What was wrong with it before does not count any more.
    /// - Returns: whether something was.
    func recordChanged(_ session: SessionName) -> Bool {
        entries.withLock { $0.damaged.removeValue(forKey: session.text) } != nil
    }

    /// The store has been read, or has reported why it cannot be read.
    func firstLoadEnded() { firstLoad.open() }

    /// Adds a session after a sign-in. Returns when it is in the store, or the store has refused it.
    /// - Parameters: see ``Session/replace(with:sentAt:revokesFormer:reset:)``.
    package func signedIn(
        _ record: SessionRecord, sentAt: Moment, revokesFormer: Bool = false, reset: PasswordReplacement? = nil
    ) async throws(AgentError) -> SessionStatus {
        await keepDefault(besides: record.session)
        let session = await install(record, sentAt: sentAt, revokesFormer: revokesFormer, reset: reset)
        // The profile may have changed during the sign-in.
        await session.checkOrigins()
        await updateShared()
        await updateNetworkOrigins()
        await sendNetworkState(session)
        try await session.write()
        if board.status(record.session)?.unsaved == false {
            storage.signOuts.end(before: record)
            context.tasks.pool.order { [storage] in _ = await storage.signOuts.keep() }
        }
        let wasDamaged = entries.withLock { $0.damaged.removeValue(forKey: record.session.text) } != nil
        if wasDamaged { board.put(store: .ready, message: damage) }
        return try status(record.session)
    }

    private func install(
        _ record: SessionRecord, sentAt: Moment, revokesFormer: Bool, reset: PasswordReplacement?
    ) async -> Session {
        var record = record
        origins.share(with: &record)
        while true {
            if let session = session(named: record.session),
                await session.replace(
                    with: record, sentAt: sentAt, revokesFormer: revokesFormer, reset: reset)
            {
                return session
            }
            // There is none, or it was signed out of and removed before it could handle the new sign-in.
            let (means, now) = (context.providers.means(of: record), context.clock.now())
            let added = add(named: record.session) { seed in
                SessionMachine(signedIn: record, sentAt: sentAt, means: means, now: now, seed: seed)
            }
            guard let (session, isNew) = added, isNew else { continue }
            if storage.store.leases != nil { await session.handle(.shared(true)) }
            await session.begin()
            // The token was received on one of these connections. That of a restored session was not.
            if let status = board.status(record.session) { closeConnections(of: status) }
            return session
        }
    }

    /// - Parameter unlessEnded: whether it is not added if it has ended since ``loadBegins()``.
    /// - Returns: the session of that name, which another task may have added before; `nil` if it was not added.
    private func add(
        named name: SessionName, unlessEnded: Bool = false, _ machine: (_ seed: UInt64) -> SessionMachine
    ) -> (session: Session, isNew: Bool)? {
        entries.withLock { entries in
            if let session = entries.sessions[name] { return (session, false) }
            if unlessEnded, entries.endedSince?.contains(name) ?? false { return nil }
            let services = entries.services ?? makeServices()
            entries.services = services
            let performer = SessionPerformer(name: name, services: services)
            let session = Session(machine(entries.seeds.next()), performer: performer)
            entries.sessions[name] = session
            return (session, true)
        }
    }

    private func makeServices() -> SessionPerformer.Services {
        SessionPerformer.Services(
            context: context, storage: storage, renewals: renewals, holds: holds, gate: renewalGate,
            publish: { [weak self, board, storage] snapshot in
                let name = snapshot.status.session
                storage.pauses.set(snapshot.pause, for: name)
                let former = board.snapshot(name)
                board.put(snapshot)
                storage.defaultChanged()
                guard let former else { return }
                if former.signIn != snapshot.signIn {
                    self?.signInWasReplaced(of: name)
                } else if Self.isUsable(former.status) != Self.isUsable(snapshot.status) {
                    self?.signInChanged(of: name)
                }
                if former.token != snapshot.token { self?.closeConnections(of: snapshot.status) }
            }, forget: { [weak self] in self?.forget($0, $1) },
            sharedGrant: {
                [weak self] (record: SessionRecord, sentAt: Moment) async throws(ProviderFailure) -> Grant in
                guard let self else { throw .temporary(.stopping, retryAfter: nil) }
                return try await self.sharedGrant(for: record, sentAt: sentAt)
            })
    }

    // MARK: Removal

    /// Removes a session, unless another one has its name by now. The name is free only after everything else of this
    /// session is removed: a new session of that name would lose its own.
    private func forget(_ name: SessionName, _ runner: Runner<SessionMachine>) {
        guard let session = session(named: name), session.isRun(by: runner) else { return }
        let last = board.status(name)
        storage.pauses.set(nil, for: name)
        storage.signOuts.end(name)
        let wasDefault = board.defaultChange(removing: name).now == name
        let marks = wasDefault ? board.defaultMarks(besides: name) : [:]
        board.remove(name)
        storage.defaultChanged()
        entries.withLock { entries in
            entries.sessions[name] = nil
            entries.endedSince?.insert(name)
        }
        tellEnd.yield(name)
        context.tasks.pool.order { [storage] in
            await self.endDefault(marks)
            await self.updateShared(by: name)
            await self.updateNetworkOrigins()
            _ = await storage.signOuts.keep()
        }
        if let last { closeConnections(of: last) }
    }

    /// It may share another session's sign-in, and its provider may be at another place.
    private func signInWasReplaced(of name: SessionName) {
        context.tasks.pool.order {
            await self.updateShared()
            await self.updateNetworkOrigins()
            if let session = self.session(named: name) { await self.sendNetworkState(session) }
        }
    }

    private func signInChanged(of name: SessionName) {
        context.tasks.pool.order { await self.updateShared(by: name) }
    }

    /// An idle connection keeps its last request and response in memory, and these may contain a token of this session.
    /// Connections to other providers stay open.
    private func closeConnections(of session: SessionStatus) {
        context.tasks.pool.order { [context] in
            await context.transport.closeIdleConnections(to: await context.providers.origins(of: session))
        }
    }

    // MARK: The default session

    /// If there is one session, it stays the default one when others are added.
    func keepDefault(besides newcomer: SessionName? = nil) async {
        // Others are in a store that has not been read.
        guard !storage.handovers.isIncomplete else { return }
        let sessions = all
        guard sessions.count == 1, let only = sessions.first, only.name != newcomer else { return }
        await only.handle(.defaultImplied)
    }

    /// Removes former choices, so that the next run does not return to one of them.
    func endDefault(_ marks: [SessionName: WallTime]) async {
        for (name, date) in marks { await session(named: name)?.handle(.defaultEnded(since: date)) }
    }

    // MARK: All sessions

    func dropTargetedTokens() async {
        for session in all { await session.handle(.targetedTokensDropped) }
    }

    /// Returns when the actors that token requests and renewals pass through have handled what they were sent before.
    package func answers() async {
        await renewals.read { _ in }
        await holds.answers()
        await context.network.answers()
        await context.providers.servers.answers()
        for session in all { await session.answers() }
    }

    /// Replaces the profiles. Each session uses the new ones from its next request on.
    package func reload(_ profiles: ProfileCatalog) async {
        context.providers.profiles = profiles
        for session in all {
            await session.profilesChanged()
            await session.checkOrigins()
        }
        await updateShared()
        await updateNetworkOrigins()
    }

    func storeReady() async {
        for session in all { await session.handle(.storeReady) }
    }

    /// Writes what is unwritten, as far as the store accepts it.
    package func drain() async {
        await withDiscardingTaskGroup { group in
            for session in all {
                // An error is part of the session's status. No caller waits for it here.
                group.addTask { try? await session.write() }
            }
        }
    }

    /// Before the agent stops: begins no renewal, waits until the deadline for those in flight, and writes what they bring
    /// with the rest. A rotated refresh token would be lost otherwise.
    package func finish(until deadline: BootInstant) async {
        await renewals.close()
        await holds.close()
        await withTaskGroup(of: Void.self) { [clock = context.clock] group in
            group.addTask { for session in self.all { await session.requestsEnded() } }
            group.addTask { try? await clock.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
        await drain()
    }

    /// Ends every wait for a session with `stopping`.
    func close() async {
        for session in all { await session.close() }
        await renewals.close()
        await holds.close()
        firstLoad.stop()
    }

    /// A version for a reading of several sessions, taken before the reading begins. Results may arrive in a different
    /// order, but each change is followed by a reading with a higher version, which includes it.
    func nextReadingVersion() -> UInt64 {
        entries.withLock { entries in
            entries.lastReading += 1
            return entries.lastReading
        }
    }
}
