import Synchronization

/// Sends messages about the agent's state to the service manager. It does not block callers.
///
/// Invariant: messages arrive in the order of the calls, except for those that ``PendingNotifications`` drops. Unsent
/// messages are sent when the manager receives again, or, if sending failed, with the next message.
final class NotificationQueue: Sendable {
    private struct State {
        var pending = PendingNotifications()
        /// Another thread waits for the manager, and sends them then.
        var isWaiting = false
    }

    private let state = Mutex(State())
    private let receiver: any NotificationReceiver

    init(_ receiver: any NotificationReceiver) {
        self.receiver = receiver
    }

    func send(_ notification: StateNotification) {
        let mustWait = state.withLock { state in
            state.pending.add(notification)
            return !state.isWaiting && sendPending(&state)
        }
        if mustWait { wait() }
    }

    /// - Returns: whether the caller must wait for the manager.
    private func sendPending(_ state: inout State) -> Bool {
        while let next = state.pending.list.first {
            switch receiver.send(next.text, with: nil) {
            case .sent: state.pending.removeFirst()
            case .isFull:
                state.isWaiting = true
                return true
            case .failed: return false
            }
        }
        return false
    }

    private func wait() {
        receiver.whenReceiving { [self] in
            let mustWait = state.withLock { state in
                state.isWaiting = false
                return sendPending(&state)
            }
            if mustWait { wait() }
        }
    }
}
