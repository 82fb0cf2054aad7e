internal import AuthConcurrency
internal import AuthMachines
internal import AuthModel
internal import AuthWire
internal import Synchronization

/// Loads the sessions of the store into the registry, and follows what happens to the store.
package final class SessionLoader: Sendable {
    struct Retries {
        var backoff = Backoff()
        var isScheduled = false
        var random: SeededRandom
    }

    let context: AgentContext
    let registry: SessionRegistry
    let storage: SessionStorage
    /// Opens when sessions are served.
    private let serving = Latch()
    /// Held while the store is read. What one reading removes, another one must not restore.
    private let loading = AsyncLock()
    /// How often that has begun.
    private let loads = Mutex(0)
    /// Held while the sessions of the run before are restored.
    private let restoring = AsyncLock()
    /// Whether there were any; `nil`: they have not been restored.
    private let hasHandedOver = Mutex<Bool?>(nil)
    let retries: Mutex<Retries>
    /// Sessions that another host has changed while the store was being read, or could not be, or before a session of that
    /// name had ended.
    private let unread = Mutex<Set<SessionName>>([])
    /// Requests for the names in a locked store: the last one that was sent, and the last one whose answer was accepted.
    private let nameRequests = Mutex<(sent: UInt64, answered: UInt64)>((0, 0))
    /// Held while the store's process is read and reported, so that the last one reported was read last.
    private let processLock = AsyncLock()

    /// - Parameter seed: the seed of the jitter.
    package init(context: AgentContext, registry: SessionRegistry, storage: SessionStorage, seed: UInt64) {
        self.context = context
        self.registry = registry
        self.storage = storage
        retries = Mutex(Retries(random: SeededRandom(seed: seed)))
    }

    var board: StateBoard { context.board }
    var store: any SessionStore { storage.store }

    /// Runs the sessions and what they wait for, until it is cancelled. Callers that still wait then get `stopping`.
    /// - Parameter last: done when it is cancelled, before the sessions end.
    package func run(last: (@Sendable () async -> Void)? = nil) async {
        // What is still to be written at the end does not wait for clients that will not be served.
        let last = last.map { last in
            { @Sendable [self] in
                storage.clientsServed.stop()
                // Some of the sessions of the run before may have tokens that are not in the store.
                await restoreHandedOver()
                await last()
            }
        }
        await context.tasks.run(
            services: [watchStore, watchChanges, watchEnds, watchReleases, watchFaults, followNetwork], last: last)
        await registry.close()
        serving.stop()
    }

    /// Returns when the run before has handed over its sessions, or the first try to read the store has ended: every answer
    /// is correct from then on. Returns early if the task is cancelled, or after ``run(last:)``.
    package func ready() async {
        try? await serving.wait()
    }

    /// Restores the sessions of the run before, once. They are served whatever the store does. ``run(last:)`` does it too;
    /// a caller that does it earlier does not wait until the other services of the agent have begun.
    /// - Returns: whether there are any; `nil` if the task was cancelled while another one restored them.
    @discardableResult
    package func restoreHandedOver() async -> Bool? {
        await restoring.withLock {
            if let known = hasHandedOver.withLock({ $0 }) { return known }
            let found = await loadHandedOver()
            hasHandedOver.withLock { $0 = found }
            return found
        }
    }

    /// Clients get answers from now on.
    package func clientsAreServed() { storage.clientsServed.open() }

    // MARK: The store

    private func watchStore() async {
        guard let hasSessions = await restoreHandedOver() else { return }
        if hasSessions {
            // If the agent stops before that, nothing more is read.
            guard (try? await storage.clientsServed.wait()) != nil else { return }
            // The first answers do not wait for that: the service manager has the same sessions, or a change of one of
            // them has replaced them already.
            storage.flushHandovers()
            // Not earlier: the first reading of the network repeats each probe.
            await registry.updateNetworkOrigins()
        }
        await load()
        // A load that the end of the agent has cut off says nothing about the store.
        guard !Task.isCancelled else { return }
        serving.open()
        registry.firstLoadEnded()
        var isAnother = false
        for await state in store.states() {
            context.tasks.pool.order { [board, store, processLock] in
                await processLock.withLock { board.put(storeProcess: await store.process()) }
            }
            if state == .missing { isAnother = true }
            guard state == .ready else {
                // The reason of a failure is in the error of the call that failed, and not in the state.
                let isKnown = state == .failed && board.store.state == .failed
                let fault = await store.obstacle()
                board.put(
                    store: state, message: fault?.message ?? (isKnown ? board.store.message : nil), cause: fault?.name)
                if !registry.isLoaded { await showLocked() }
                continue
            }
            if !registry.isLoaded { await load() } else { board.put(store: .ready, message: registry.damage) }
            await readMissed()
            for session in registry.all {
                if isAnother { await session.handle(.storeReplaced) }
                await session.handle(.storeReady)
            }
            isAnother = false
        }
    }

    /// Reports what other programs, or the user, change in the store.
    private func watchChanges() async {
        for await name in store.changes() {
            if registry.recordChanged(name), board.store.state == .ready {
                board.put(store: .ready, message: registry.damage)
            }
            await recordMayDiffer(name)
        }
    }

    private func recordMayDiffer(_ name: SessionName) async {
        if let session = registry.session(named: name) {
            // The change may be a new sign-in, which is read once this session has ended.
            if await session.mayDiffer() { unread.withLock { _ = $0.insert(name) } }
            guard registry.session(named: name) == nil else { return }
        }
        await addFromOtherHost(name)
    }

    private func watchEnds() async {
        for await name in registry.ends where unread.withLock({ $0.remove(name) }) != nil {
            await recordMayDiffer(name)
        }
    }

    /// A host that shares the store has signed in. A record that this host has signed out of is not a session.
    private func addFromOtherHost(_ name: SessionName) async {
        guard registry.isLoaded else {
            // What is being read may be older.
            unread.withLock { _ = $0.insert(name) }
            return
        }
        unread.withLock { _ = $0.remove(name) }
        let found: SessionRecord?
        do throws(StoreError) {
            found = try await store.loadReported(name)
        } catch {
            // It is read when the store is ready again.
            unread.withLock { _ = $0.insert(name) }
            return
        }
        guard let record = found, !storage.signOuts.cover(record) else { return }
        await registry.keepDefault()
        await registry.restore(record)
        await registry.updateShared()
        await registry.updateNetworkOrigins()
    }

    /// Reads what was reported while it could not be read.
    private func readMissed() async {
        let names = unread.withLock { names in
            defer { names = [] }
            return names
        }
        for name in names.sorted() {
            await recordMayDiffer(name)
        }
    }

    private func watchReleases() async {
        for await session in store.released() { await registry.holds.released(session) }
    }

    private func watchFaults() async {
        for await fault in store.faults() {
            board.publish(fault)
            guard case .damaged(let session, let reason) = fault, registry.isLoaded else { continue }
            registry.recordIsDamaged(session, reason)
            if board.store.state == .ready { board.put(store: .ready, message: registry.damage) }
        }
    }

    /// A locked store whose sessions are not known is asked again: it may have been out of reach.
    private func followNetwork() async {
        await registry.followNetwork { [board, context] in
            guard board.hidesSessions else { return }
            context.tasks.pool.order { await self.showLocked() }
        }
    }

    /// - Returns: whether there are any sessions of the run before.
    private func loadHandedOver() async -> Bool {
        let handover = storage.handovers.load(of: store.kind) { !storage.signOuts.cover($0) }
        let sessions = handover.sessions
        board.freezeDefault()
        await board.notifyingOnce {
            for session in sessions { await registry.restore(session.record, handedOver: session) }
            // The default session may be missing: requests that name none wait for the store.
            if !handover.isPartial {
                await keepFormerDefault(of: sessions.map(\.record))
                board.unfreezeDefault()
            }
            // Before others look at all sessions.
            if !sessions.isEmpty { serving.open() }
        }
        // Nothing was restored: what the run before has left is replaced at once.
        if sessions.isEmpty { storage.flushHandovers() }
        return !sessions.isEmpty
    }

    /// Adds every session that is in the store and not in the registry.
    private func load() async {
        let former = loads.withLock { $0 }
        await loading.withLock {
            // One that began later has done the same, or has failed.
            guard loads.withLock({ $0 }) == former else { return }
            loads.withLock { $0 += 1 }
            registry.loadBegins()
            await loadStored()
            registry.loadEnds()
        }
    }

    private func loadStored() async {
        do throws(StoreError) {
            var damaged: [String: String] = [:]
            var signedOut: [SessionRecord] = []
            let found = try await store.loadAll()
            await registry.keepDefault()
            board.freezeDefault()
            await board.notifyingOnce {
                for stored in found {
                    switch stored {
                    case .record(let record) where storage.signOuts.cover(record): signedOut.append(record)
                    case .record(let record):
                        storage.signOuts.end(record.session)
                        guard await !registry.restore(record, isLoad: true) else { continue }
                        unread.withLock { _ = $0.insert(record.session) }
                    case .damaged(let session, let reason): damaged[session] = reason
                    }
                }
            }
            for record in signedOut { await remove(record) }
            await keepFormerDefault(
                of: found.compactMap { if case .record(let record) = $0 { record } else { nil } })
            // Before the store is reported as ready: then the default session is known.
            board.unfreezeDefault()
            storage.storeWasRead()
            registry.loaded(damaged: damaged)
            await readMissed()
            await registry.updateShared()
            // A mark that cannot be removed names a sign-in that is nowhere.
            context.tasks.pool.order { [storage] in _ = await storage.signOuts.keep() }
            board.removePlaceholders(in: .keyringLocked)
            board.put(storeKind: store.kind)
            await registry.updateNetworkOrigins()
            board.put(store: .ready, message: registry.damage)
        } catch {
            var cause: String?
            if case .cluster(let fault) = error { cause = fault.name }
            board.put(
                store: StoreState(error), message: error == .dismissed ? nil : AgentError(error).message, cause: cause)
            await showLocked()
            if error.reportsNoRecovery || board.hidesSessions { retryLater() }
        }
    }

    /// An older authd used the first of several sessions as the default one without recording that. It stays so.
    /// - Parameter records: as they were read. Those of an older authd have no origins.
    private func keepFormerDefault(of records: [SessionRecord]) async {
        guard records.count > 1, records.allSatisfy({ $0.origins == nil && $0.defaultSince == nil }) else { return }
        let first = records.min { ($0.signedInAt.unixSeconds, $0.session) < ($1.signedInAt.unixSeconds, $1.session) }
        if let first { await registry.session(named: first.session)?.handle(.defaultImplied) }
    }

    /// Carries out a sign-out that an earlier run could not.
    private func remove(_ record: SessionRecord) async {
        // A machine that is still there removes the record itself.
        guard registry.session(named: record.session) == nil else { return }
        // The next load tries again. Until then the record is not a session all the same.
        guard (try? await store.delete(record.session, of: record.signIn)) != nil else { return }
        storage.signOuts.end(record.session)
    }

    /// A locked store still reports the names of its sessions: they exist, and are not signed out.
    private func showLocked() async {
        guard [.locked, .waiting, .denied].contains(board.store.state) else { return }
        let wasLoaded = registry.isLoaded
        let request = nameRequests.withLock { requests in
            requests.sent += 1
            return requests.sent
        }
        let names = try? await store.names()
        // Otherwise the store was opened meanwhile, or a later request was answered first.
        guard registry.isLoaded == wasLoaded, acceptAnswer(to: request) else { return }
        // Without names no session is shown: the store's own state has the reason.
        for name in names ?? []
        where registry.session(named: name.session) == nil && !storage.signOuts.include(name.session) {
            board.put(placeholder: .locked(name, in: board.store))
        }
        board.put(lacksNames: names == nil)
        // If the store was opened while this was published, the load may not have removed all of it.
        guard registry.isLoaded != wasLoaded else { return }
        board.put(lacksNames: false)
        board.removePlaceholders(in: .keyringLocked)
    }

    /// - Returns: `false` if a later request was answered before.
    private func acceptAnswer(to request: UInt64) -> Bool {
        nameRequests.withLock { requests in
            guard request > requests.answered else { return false }
            requests.answered = request
            return true
        }
    }

    func reload() async {
        await load()
        await registry.storeReady()
    }
}

extension SessionStatus {
    fileprivate static func locked(_ name: StoredName, in store: StoreInfo) -> SessionStatus {
        SessionStatus(
            session: name.session, provider: name.provider, state: .keyringLocked,
            cause: AgentError.storeNotRead(store).statusCause ?? "keyring_locked",
            message: AgentError.storeNotRead(store).message, store: store.kind)
    }
}

extension StoreError {
    /// A store that is locked, denied or missing reports when that is over. A store that failed may not know that it did.
    fileprivate var reportsNoRecovery: Bool {
        switch self {
        case .failed, .notAnswering, .cluster: true
        case .locked, .waiting, .dismissed, .sealed, .missing, .denied: false
        }
    }
}

extension StoreState {
    init(_ error: StoreError) {
        self =
            switch error {
            case .locked, .sealed: .locked
            case .waiting: .waiting
            case .missing: .missing
            case .failed: .failed
            case .dismissed, .denied: .denied
            case .notAnswering: .notAnswering
            case .cluster(.unreachable), .cluster(.noQuorum): .notAnswering
            case .cluster(.denied), .cluster(.notAdmitted), .cluster(.otherCluster): .denied
            case .cluster: .failed
            }
    }
}
