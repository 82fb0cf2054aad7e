internal import AuthModel
internal import AuthWire
internal import Synchronization

/// What the next run is to have of every session.
///
/// Invariant: what ``flush(of:)`` has returned from is with the store, and nothing older is.
package final class PendingHandover: Sendable {
    private struct State {
        var sessions: [SessionName: HandedOverSession] = [:]
        var isBehind = false
    }

    private let state = Mutex(State())
    private let store: (any HandoverStore)?

    init(store: (any HandoverStore)?) {
        self.store = store
    }

    /// What the run before handed over. From then on the store has what is told here.
    func load(of kind: StoreKind) -> [HandedOverSession] {
        guard let store else { return [] }
        state.withLock { $0.isBehind = true }
        return store.load(of: kind)
    }

    /// Has the next ``flush(of:)`` hand this over; `nil`: nothing of that session.
    /// - Returns: whether a flush is to follow that none has followed yet.
    func set(_ session: HandedOverSession?, named name: SessionName) -> Bool {
        guard store != nil else { return false }
        return state.withLock { state in
            state.sessions[name] = session
            defer { state.isBehind = true }
            return !state.isBehind
        }
    }

    /// The same sessions are in another store now.
    func storeWasReplaced() {
        state.withLock { $0.isBehind = true }
    }

    /// Hands over what has changed, for all who told of a change before. What is in memory ends with the agent.
    func flush(of kind: StoreKind) {
        guard let store else { return }
        state.withLock { state in
            guard state.isBehind else { return }
            state.isBehind = false
            let sessions = state.sessions.values.sorted { $0.record.session < $1.record.session }
            // Under the lock, so that an older state never replaces a newer one.
            store.save(kind == .memory ? [] : sessions, of: kind)
        }
    }
}
