internal import AuthModel
package import AuthWire
internal import Synchronization

/// The sessions as they are handed over to the next run.
///
/// Invariant: what ``flush(of:)`` has returned from is with the store, and nothing older is.
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
        var isBehind = false
        /// The agent is locked: nothing is handed over.
        var isSuspended = false
        var limit: Limit?
        /// Those that the last flush has left out.
        var withheld: Set<SessionName> = []

        func found() -> Set<SessionName> {
            guard let limit else { return [] }
            return Set(sessions.keys.filter(limit.isWithheld))
        }

        /// What the next run may have.
        mutating func shown() -> [HandedOverSession] {
            withheld = found()
            let shown = sessions.filter { !withheld.contains($0.key) }
            // Without the default session, the next run would use another one in its place until it has read the store.
            guard withheld.isEmpty || limit?.defaultSession().map({ shown[$0] != nil }) ?? false else { return [] }
            return shown.values.sorted { $0.record.session < $1.record.session }
        }
    }

    private let state = Mutex(State())
    private let store: (any HandoverStore)?

    init(store: (any HandoverStore)?) {
        self.store = store
    }

    /// What the run before handed over. From then on the store has what is set here.
    func load(of kind: StoreKind) -> [HandedOverSession] {
        guard let store else { return [] }
        let isSuspended = state.withLock { state in
            state.isBehind = true
            return state.isSuspended
        }
        let sessions = store.load(of: kind)
        guard isSuspended else { return sessions }
        // What the run before has left is discarded.
        store.save([], of: kind)
        return []
    }

    /// Removes what was handed over, and hands over nothing more.
    func suspend(of kind: StoreKind) {
        guard let store else { return }
        state.withLock { state in
            state.isSuspended = true
            store.save([], of: kind)
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

    /// The limit may withhold other sessions now.
    func limitChanged(of kind: StoreKind) {
        let isOther = state.withLock { state in
            let isOther = state.found() != state.withheld
            if isOther { state.isBehind = true }
            return isOther
        }
        if isOther { flush(of: kind) }
    }

    /// Sets what the next ``flush(of:)`` hands over of that session; `nil`: nothing.
    /// - Returns: whether the caller must begin a flush; `false` if an earlier caller does.
    func set(_ session: HandedOverSession?, named name: SessionName) -> Bool {
        guard store != nil else { return false }
        return state.withLock { state in
            state.sessions[name] = session
            defer { state.isBehind = true }
            return !state.isBehind
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
            state.isBehind = false
            guard !state.isSuspended else { return }
            // Under the lock, so that an older state never replaces a newer one.
            store.save(kind == .memory ? [] : state.shown(), of: kind)
        }
    }
}
