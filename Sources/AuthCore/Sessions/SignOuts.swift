package import AuthWire
internal import Synchronization

/// Where sign-outs outlive a run that the store has not carried out.
package protocol SignOutKeeper: Sendable {
    /// Which sign-in has been signed out of, by session.
    func load() -> [SessionName: SignInID]
    /// Replaces all that is kept; it must not wait.
    func keep(_ signOuts: [SessionName: SignInID])
}

/// Sign-outs that are under way at the store: what it still holds of them is no session any more.
final class SignOuts: Sendable {
    private let pending: Mutex<[SessionName: SignInID]>
    private let keeper: (any SignOutKeeper)?

    init(keeper: (any SignOutKeeper)?) {
        self.keeper = keeper
        pending = Mutex(keeper?.load() ?? [:])
    }

    func begin(_ record: SessionRecord) { set(record.signIn, for: record.session) }

    /// The store has let go of it, or holds another sign-in of that name.
    func end(_ session: SessionName) { set(nil, for: session) }

    /// Whether a person signed out of this very sign-in.
    func cover(_ record: SessionRecord) -> Bool { pending.withLock { $0[record.session] } == record.signIn }

    /// Whether somebody signed out of a session of that name, as far as can be told without reading it.
    func include(_ session: SessionName) -> Bool { pending.withLock { $0[session] != nil } }

    private func set(_ signIn: SignInID?, for session: SessionName) {
        pending.withLock { pending in
            guard pending[session] != signIn else { return }
            pending[session] = signIn
            // Under the lock, so that an older state never replaces a newer one.
            keeper?.keep(pending)
        }
    }
}
