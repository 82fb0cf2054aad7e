internal import AuthModel
internal import AuthWire
internal import Synchronization

/// The sessions as they are handed over to the next run.
///
/// Invariant: what ``flush(of:)`` has returned from is with the store, and nothing older is.
package final class PendingHandover: Sendable {
    private struct State {
        var sessions: [SessionName: HandedOverSession] = [:]
        var isBehind = false
        /// The agent is locked: nothing is handed over.
        var isSuspended = false
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

    /// Hands over all changes that were set before. Sessions of the memory store are never handed over.
    func flush(of kind: StoreKind) {
        guard let store else { return }
        state.withLock { state in
            guard state.isBehind else { return }
            state.isBehind = false
            guard !state.isSuspended else { return }
            let sessions = state.sessions.values.sorted { $0.record.session < $1.record.session }
            // Under the lock, so that an older state never replaces a newer one.
            store.save(kind == .memory ? [] : sessions, of: kind)
        }
    }
}
