internal import AuthModel
package import AuthWire
internal import Synchronization

/// The sessions as they are handed over to the next run.
///
/// Invariant: when ``flush(of:)`` returns, the store has the newest sessions and nothing older. A store that cannot
/// pass them on at once (``HandoverStore/hasNewest``) does so later.
package final class PendingHandover: Sendable {
    /// Which sessions are not handed over, because programs of the user can read what is.
    package struct Limit: Sendable {
        let isWithheld: @Sendable (SessionName) -> Bool
        let defaultSession: @Sendable () -> SessionName?

        package init(
            isWithheld: @escaping @Sendable (SessionName) -> Bool,
            defaultSession: @escaping @Sendable () -> SessionName?
        ) {
            self.isWithheld = isWithheld
            self.defaultSession = defaultSession
        }
    }

    private struct State {
        var sessions: [SessionName: HandedOverSession] = [:]
        /// The store lacks a change.
        var isBehind = false
        /// ``set(_:named:)`` has asked a caller to flush, and nothing was flushed since.
        var isFlushRequested = false
        /// The agent is locked: nothing is handed over.
        var isSuspended = false
        var limit: Limit?
        /// Those that the last flush has left out.
        var withheld: Set<SessionName> = []
        /// What the last flush has handed over is partial.
        var isPartial = false
        /// The run before has handed over a part, and the store has not been read yet: sessions are missing here.
        var isIncomplete = false

        func found() -> Set<SessionName> {
            guard let limit else { return [] }
            return Set(sessions.keys.filter(limit.isWithheld))
        }

        /// Whether the default session may be missing. The next run would use another one in its place.
        func lacksDefault(without withheld: Set<SessionName>) -> Bool {
            if isIncomplete { return true }
            guard !withheld.isEmpty else { return false }
            guard let chosen = limit?.defaultSession() else { return true }
            return withheld.contains(chosen) || sessions[chosen] == nil
        }

        /// What the next run may have.
        func shown(without withheld: Set<SessionName>) -> Handover {
            let shown = sessions.filter { !withheld.contains($0.key) }.values
            return Handover(
                shown.sorted { $0.record.session < $1.record.session }, isPartial: lacksDefault(without: withheld))
        }
    }

    private let state = Mutex(State())
    private let store: (any HandoverStore)?

    init(store: (any HandoverStore)?) {
        self.store = store
    }

    /// What the run before handed over. From then on the store has what is set here: at first the same sessions, so that each
    /// flush hands over all of them, even while they are being restored.
    /// - Parameter isUsed: `false` for a session that is not to be restored.
    func load(of kind: StoreKind, where isUsed: (SessionRecord) -> Bool) -> Handover {
        guard let store else { return Handover() }
        state.withLock { $0.isBehind = true }
        var handover = store.load(of: kind)
        handover.sessions.removeAll { !isUsed($0.record) }
        // The agent may have been locked meanwhile. A later lock replaces what the run before has left.
        let isSuspended = state.withLock { state in
            guard !state.isSuspended else { return true }
            state.isIncomplete = handover.isPartial
            for session in handover.sessions { state.sessions[session.record.session] = session }
            return false
        }
        guard isSuspended else { return handover }
        // What the run before has left is discarded.
        store.save(Handover(), of: kind)
        return Handover()
    }

    /// The run before has handed over a part, and the store has not been read yet.
    var isIncomplete: Bool { state.withLock { $0.isIncomplete } }

    /// All sessions of the store are set now.
    func storeWasRead(of kind: StoreKind) {
        state.withLock { $0.isIncomplete = false }
        limitChanged(of: kind)
    }

    /// Whether the next run gets the newest tokens of that session before it has read the store.
    func handsOver(_ name: SessionName) -> Bool {
        guard let store, store.hasNewest else { return false }
        return state.withLock { state in
            !state.isSuspended && state.sessions[name] != nil && !(state.limit?.isWithheld(name) ?? false)
        }
    }

    /// Removes what was handed over, and hands over nothing more.
    func suspend(of kind: StoreKind) {
        guard let store else { return }
        state.withLock { state in
            state.isSuspended = true
            store.save(Handover(), of: kind)
        }
    }

    /// Hands over all sessions again.
    func resume(of kind: StoreKind) {
        state.withLock { state in
            state.isSuspended = false
            state.isBehind = true
        }
        flush(of: kind)
    }

    /// From the next flush on.
    func set(_ limit: Limit) { state.withLock { $0.limit = limit } }

    /// The limit may withhold other sessions now, or another session may be the default one.
    func limitChanged(of kind: StoreKind) {
        flush(of: kind) { $0.found() }
    }

    /// Another session may be the default one now.
    func defaultChanged(of kind: StoreKind) {
        flush(of: kind) { $0.withheld }
    }

    /// - Parameter withheld: those that are left out now.
    private func flush(of kind: StoreKind, ifOther withheld: (State) -> Set<SessionName>) {
        let isOther = state.withLock { state in
            let withheld = withheld(state)
            let isOther = withheld != state.withheld || state.lacksDefault(without: withheld) != state.isPartial
            if isOther { state.isBehind = true }
            return isOther
        }
        if isOther { flush(of: kind) }
    }

    /// Sets what the next ``flush(of:)`` hands over of that session; `nil`: nothing.
    /// - Returns: whether the caller must begin a flush; `false` if an earlier caller does, or if nothing has changed.
    func set(_ session: HandedOverSession?, named name: SessionName) -> Bool {
        guard store != nil else { return false }
        return state.withLock { state in
            let former = state.sessions[name]
            state.sessions[name] = session
            guard former != session else { return false }
            defer { (state.isBehind, state.isFlushRequested) = (true, true) }
            return !state.isFlushRequested
        }
    }

    /// The sessions are in another store now: the next flush hands all of them over again.
    func storeWasReplaced() {
        state.withLock { $0.isBehind = true }
    }

    /// Hands over all changes that were set before. Sessions of the memory store, and those that the limit withholds, are
    /// never handed over.
    func flush(of kind: StoreKind) {
        guard let store else { return }
        state.withLock { state in
            guard state.isBehind else { return }
            (state.isBehind, state.isFlushRequested) = (false, false)
            guard !state.isSuspended else { return }
            state.withheld = state.found()
            let handover = state.shown(without: state.withheld)
            state.isPartial = handover.isPartial
            // Under the lock, so that an older state never replaces a newer one.
            store.save(kind == .memory ? Handover() : handover, of: kind)
        }
    }
}
