internal import AuthMachines
internal import AuthModel
internal import AuthWire
internal import Synchronization

/// The table and its store: what is read when, and what becomes of a store that cannot be read.
extension SessionRegistry {
    func watchStore() async {
        await takeOver()
        await load()
        // Cut off by the agent's end, it has told nothing of what the store holds.
        guard !Task.isCancelled else { return }
        serving.open()
        firstLoad.open()
        var isAnother = false
        for await state in store.states() {
            updateStoreProcess()
            if state == .missing { isAnother = true }
            guard state == .ready else {
                // Why it failed is told by the call that has, not by the state.
                let isKnown = state == .failed && board.store.state == .failed
                board.put(store: state, message: isKnown ? board.store.message : nil)
                if !isLoaded { await showLocked() }
                continue
            }
            if !isLoaded { await load() } else { board.put(store: .ready, message: damage) }
            for session in sessions {
                if isAnother { await session.handle(.storeReplaced) }
                await session.handle(.storeReady)
            }
            isAnother = false
        }
    }

    private func updateStoreProcess() {
        workshop.order { self.board.put(storeProcess: await self.store.process()) }
    }

    /// Sessions of the run before, served whatever the store does.
    private func takeOver() async {
        let sessions = handovers.load(of: store.kind).filter { !signOuts.cover($0.record) }
        board.freezeDefault()
        for session in sessions { await loadSession(session.record, handedOver: session) }
        await keepFormerDefault(of: sessions.map(\.record))
        board.unfreezeDefault()
        handovers.flush(of: store.kind)
        guard !sessions.isEmpty else { return }
        await updateNetworkOrigins()
        serving.open()
    }

    /// Hears of what other programs, or a person, do to sessions in the store.
    func watchOthers() async {
        for await name in store.changes() { await session(named: name)?.handle(.storeChanged) }
    }

    /// Picks up every session that the store holds and memory does not.
    private func load() async {
        do throws(StoreError) {
            var damaged: [String: String] = [:]
            let found = try await store.loadAll()
            await keepDefault()
            board.freezeDefault()
            for stored in found {
                switch stored {
                case .record(let record) where signOuts.cover(record): await remove(record)
                case .record(let record):
                    signOuts.end(record.session)
                    await loadSession(record)
                case .damaged(let session, let reason): damaged[session] = reason
                }
            }
            await keepFormerDefault(
                of: found.compactMap { if case .record(let record) = $0 { record } else { nil } })
            // Before anyone is told that the store is ready: then the default session is known.
            board.unfreezeDefault()
            entries.withLock { entries in
                entries.loaded = true
                entries.damaged = damaged
            }
            // A mark that cannot be taken away names a sign-in that is nowhere.
            workshop.order { _ = await self.signOuts.keep() }
            board.removePlaceholders(in: .keyringLocked)
            board.put(storeKind: store.kind)
            await updateNetworkOrigins()
            board.put(store: .ready, message: damage)
        } catch {
            board.put(store: StoreState(error), message: error == .dismissed ? nil : AgentError(error).message)
            await showLocked()
            if error.reportsNoRecovery { readAgainLater() }
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
    var damage: String? {
        let damaged = entries.withLock { $0.damaged }.sorted { $0.key < $1.key }
        guard !damaged.isEmpty else { return nil }
        return damaged.map { "What is kept of session \($0.key) cannot be read (\($0.value))." }.joined(separator: " ")
            + " Signing in to it again replaces it."
    }

    /// Looks for what has come into the store by another way than a sign-in; what is unwritten is written there.
    func storeWasReplaced() async {
        handovers.storeWasReplaced()
        handovers.flush(of: store.kind)
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
        guard [.locked, .waiting, .denied].contains(board.store.state) else { return }
        // What cannot be told stays unsaid: the store's own state says why.
        for name in (try? await store.names()) ?? []
        where session(named: name.session) == nil && !signOuts.include(name.session) {
            board.put(herald: .locked(name, in: board.store))
        }
    }

    /// A user wants to sign in: the store is read again, and may prompt them to unlock it.
    func retryPrompts() async {
        guard !isLoaded || board.store.state != .ready else { return }
        await store.retryPrompts()
        await load()
        for session in sessions { await session.handle(.storeReady) }
    }

    /// Has the store looked at anew without waiting for it, as a person is there.
    package func retryStore() {
        workshop.order { await self.retryPrompts() }
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
    /// A store that is locked, refused or not there tells when that is over; one that failed may not know it did.
    fileprivate var reportsNoRecovery: Bool {
        switch self {
        case .failed, .notAnswering: true
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
            }
    }
}
