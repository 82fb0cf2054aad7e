internal import AuthModel
internal import AuthWire
internal import Synchronization

/// Sign-outs that the store has not carried out yet: the records that it still has of them are not sessions any more.
final class PendingSignOuts: Sendable {
    private struct State {
        var pending: [SessionName: SignInID]
        /// Grows with each change.
        var version = 0
        /// The newest that is on disk.
        var kept = 0
    }

    private let state: Mutex<State>
    private let store: (any StateStore<[SessionName: SignInID]>)?

    init(store: (any StateStore<[SessionName: SignInID]>)?) {
        self.store = store
        state = Mutex(State(pending: store?.load() ?? [:]))
    }

    /// From now on the sign-in is over, whatever the store holds.
    func begin(_ record: SessionRecord) { set(record.signIn, for: record.session) }

    /// The store has removed it, or has another sign-in of that name.
    func end(_ session: SessionName) { set(nil, for: session) }

    /// The store holds this sign-in: what was signed out of before it is gone from there.
    func end(before record: SessionRecord) {
        state.withLock { state in
            guard let pending = state.pending[record.session], pending != record.signIn else { return }
            state.pending[record.session] = nil
            state.version += 1
        }
    }

    /// Returns when every change until now survives a loss of power, or with the reason why it does not.
    func keep() async -> StoreError? {
        guard let store, let version = state.withLock({ $0.kept < $0.version ? $0.version : nil }) else { return nil }
        do throws(StoreError) {
            try await store.save { [self] in state.withLock { $0.pending } }
        } catch {
            return error
        }
        state.withLock { $0.kept = max($0.kept, version) }
        return nil
    }

    /// Whether a user signed out of exactly this sign-in.
    func cover(_ record: SessionRecord) -> Bool { state.withLock { $0.pending[record.session] } == record.signIn }

    /// Whether a user signed out of a session of that name, as far as that is known without reading its record.
    func include(_ session: SessionName) -> Bool { state.withLock { $0.pending[session] != nil } }

    private func set(_ signIn: SignInID?, for session: SessionName) {
        state.withLock { state in
            guard state.pending[session] != signIn else { return }
            state.pending[session] = signIn
            state.version += 1
        }
    }
}
