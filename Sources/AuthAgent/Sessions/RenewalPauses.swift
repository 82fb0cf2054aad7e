package import AuthModel
package import AuthWire
internal import Synchronization

/// Where pauses outlive a run. What is lost there costs a try too early, never a session.
package protocol RenewalPauseStore: Sendable {
    func load() -> [SessionName: RenewalPause]
    /// Replaces all that is kept; it must not wait.
    func keep(_ pauses: [SessionName: RenewalPause])
}

/// The pauses of all sessions, as their snapshots tell them.
final class RenewalPauses: Sendable {
    private let current: Mutex<[SessionName: RenewalPause]>
    private let keeper: (any RenewalPauseStore)?

    init(keeper: (any RenewalPauseStore)?) {
        self.keeper = keeper
        current = Mutex(keeper?.load() ?? [:])
    }

    subscript(session: SessionName) -> RenewalPause? {
        current.withLock { $0[session] }
    }

    func set(_ pause: RenewalPause?, for session: SessionName) {
        current.withLock { current in
            guard current[session] != pause else { return }
            current[session] = pause
            // Under the lock, so that an older state never replaces a newer one.
            keeper?.keep(current)
        }
    }
}
