import Synchronization

/// Counters since the start, usable from any thread.
package final class AgentCounters: Sendable {
    private let requestCount = Atomic<Int>(0)
    private let connectionCount = Atomic<Int>(0)
    private let refusalCount = Atomic<Int>(0)
    private let waitingCount = Atomic<Int>(0)
    private let unsentCount = Atomic<Int>(0)
    private let unreadCount = Atomic<Int>(0)
    private let bodySocketCount = Atomic<Int>(0)
    private let openBodySocketCount = Atomic<Int>(0)

    package init() {}

    package var requests: Int { requestCount.load(ordering: .relaxed) }
    /// Currently open.
    package var connections: Int { connectionCount.load(ordering: .relaxed) }
    /// Connections that were refused, or closed because of their behaviour.
    package var refusals: Int { refusalCount.load(ordering: .relaxed) }
    /// Requests that currently wait for something.
    package var waiting: Int { waitingCount.load(ordering: .relaxed) }

    /// Bytes of responses that clients have not received yet.
    package var unsentBytes: Int { unsentCount.load(ordering: .relaxed) }
    /// Bytes of lines that are incomplete or not parsed yet.
    package var unreadBytes: Int { unreadCount.load(ordering: .relaxed) }

    /// Sockets that clients were given for bodies.
    package var bodySockets: Int { bodySocketCount.load(ordering: .relaxed) }
    /// Sockets for bodies that are open now, including one that is just being sent to a client.
    package var openBodySockets: Int { openBodySocketCount.load(ordering: .relaxed) }

    func request() { requestCount.add(1, ordering: .relaxed) }
    func refusal() { refusalCount.add(1, ordering: .relaxed) }
    func began() { waitingCount.add(1, ordering: .relaxed) }
    func ended() { waitingCount.subtract(1, ordering: .relaxed) }
    func unsentChanged(by difference: Int) { unsentCount.add(difference, ordering: .relaxed) }
    func unreadChanged(by difference: Int) { unreadCount.add(difference, ordering: .relaxed) }
    func bodySocketGiven() { bodySocketCount.add(1, ordering: .relaxed) }
    func bodySocketOpened() { openBodySocketCount.add(1, ordering: .relaxed) }
    func bodySocketClosed() { openBodySocketCount.subtract(1, ordering: .relaxed) }
    func opened() { connectionCount.add(1, ordering: .relaxed) }
    func closed() { connectionCount.subtract(1, ordering: .relaxed) }
}
