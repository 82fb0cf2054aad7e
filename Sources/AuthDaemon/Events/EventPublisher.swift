package import AuthWire
import Synchronization

/// Sends events from any thread to the clients that subscribed to them.
package final class EventPublisher: Sendable {
    private let listener = Mutex<Listener?>(nil)

    package init() {}

    /// Does not wait: the event is sent on the sockets' thread, or dropped if there is no listener.
    package func publish(_ event: AgentEvent) {
        listener.withLock { $0 }?.perform { $0.send(event) }
    }

    /// Answers the requests that a locked agent does not serve. Returns when no token of theirs is sent any more.
    package func endAcceptedRequests() async {
        await withCheckedContinuation { continuation in
            // Under the lock: a listener that is still there does what was submitted.
            let isServed = listener.withLock { listener in
                listener?.perform { registry in
                    registry.agentLocked()
                    continuation.resume()
                }
                return listener != nil
            }
            if !isServed { continuation.resume() }
        }
    }

    /// Ends streams that the access rules refuse now.
    package func rulesChanged() {
        listener.withLock { $0 }?.perform { $0.rulesChanged() }
    }

    /// - Parameter listener: `nil` when it ends.
    func connect(to listener: Listener?) {
        self.listener.withLock { $0 = listener }
    }
}
