package import AuthWire
import Synchronization

/// Takes events from any thread to the clients that follow them.
package final class EventPublisher: Sendable {
    private let listener = Mutex<Listener?>(nil)

    package init() {}

    /// Does not wait: the event is sent when the thread of the sockets comes to it, or dropped while nothing listens.
    package func publish(_ event: AgentEvent) {
        listener.withLock { $0 }?.perform { $0.send(event) }
    }

    /// - Parameter listener: `nil` when it ends.
    func connect(to listener: Listener?) {
        self.listener.withLock { $0 = listener }
    }
}
