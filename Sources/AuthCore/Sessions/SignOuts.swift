package import AuthWire
internal import Synchronization

/// Where sign-outs outlive a run that the store has not carried out.
package protocol SignOutKeeper: Sendable {
    /// When the session was signed in that is signed out, in Unix seconds.
    func load() -> [SessionName: Double]
    /// Replaces all that is kept; it must not wait.
    func keep(_ signOuts: [SessionName: Double])
}

/// Sign-outs that are under way at the store: what it still holds of them is no session any more.
final class SignOuts: Sendable {
    private let pending: Mutex<[SessionName: Double]>
    private let keeper: (any SignOutKeeper)?

    init(keeper: (any SignOutKeeper)?) {
        self.keeper = keeper
        pending = Mutex(keeper?.load() ?? [:])
    }

    func begin(_ record: SessionRecord) { set(record.signedInAt.unixSeconds, for: record.session) }

    /// The store has let go of it, or holds another sign-in of that name.
    func end(_ session: SessionName) { set(nil, for: session) }

    /// Whether a person signed out of this very sign-in.
    func cover(_ record: SessionRecord) -> Bool {
        guard let signedIn = pending.withLock({ $0[record.session] }) else { return false }
        // A date loses less than that on its way through the store.
        return abs(signedIn - record.signedInAt.unixSeconds) < 0.001
    }

    /// Whether somebody signed out of a session of that name, as far as can be told without reading it.
    func include(_ session: SessionName) -> Bool { pending.withLock { $0[session] != nil } }

    private func set(_ signedIn: Double?, for session: SessionName) {
        pending.withLock { pending in
            guard pending[session] != signedIn else { return }
            pending[session] = signedIn
            // Under the lock, so that an older state never replaces a newer one.
            keeper?.keep(pending)
        }
    }
}
