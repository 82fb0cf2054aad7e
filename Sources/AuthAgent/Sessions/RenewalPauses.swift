internal import AuthModel
internal import AuthWire
internal import Synchronization

/// The pauses of all sessions, taken from their snapshots.
final class RenewalPauses: Sendable {
    private let current: Mutex<[SessionName: RenewalPause]>
    private let store: (any StateStore<[SessionName: RenewalPause]>)?

    init(store: (any StateStore<[SessionName: RenewalPause]>)?) {
        self.store = store
        current = Mutex(store?.load() ?? [:])
    }

    subscript(session: SessionName) -> RenewalPause? {
        current.withLock { $0[session] }
    }

    func set(_ pause: RenewalPause?, for session: SessionName) {
        current.withLock { current in
            guard current[session] != pause else { return }
            current[session] = pause
            // Under the lock, so that an older state never replaces a newer one. Without a pause a request is sent too early. The
            // session waits for this write: it is rare and small, is not synced, and the file is beside the socket, usually in
            // memory.
            try? store?.write(current)
        }
    }
}
