import Synchronization

/// Counted since the start, from any thread.
package final class AgentCounters: Sendable {
    private let requestCount = Atomic<Int>(0)
    private let connectionCount = Atomic<Int>(0)
    private let refusalCount = Atomic<Int>(0)
    private let waitingCount = Atomic<Int>(0)
    private let unsentCount = Atomic<Int>(0)
    private let unreadCount = Atomic<Int>(0)

    package init() {}

    package var requests: Int { requestCount.load(ordering: .relaxed) }
    /// Open now.
    package var connections: Int { connectionCount.load(ordering: .relaxed) }
    /// Connections that were not taken, or were ended for what they did.
    package var refusals: Int { refusalCount.load(ordering: .relaxed) }
    /// Requests that wait for something, now.
    package var waiting: Int { waitingCount.load(ordering: .relaxed) }

    /// Bytes of answers that clients have not taken, now.
    package var unsentBytes: Int { unsentCount.load(ordering: .relaxed) }
    /// Bytes of lines that are not complete or not parsed yet, now.
    package var unreadBytes: Int { unreadCount.load(ordering: .relaxed) }

    func request() { requestCount.add(1, ordering: .relaxed) }
    func refusal() { refusalCount.add(1, ordering: .relaxed) }
    func began() { waitingCount.add(1, ordering: .relaxed) }
    func ended() { waitingCount.subtract(1, ordering: .relaxed) }
    func unsentChanged(by difference: Int) { unsentCount.add(difference, ordering: .relaxed) }
    func unreadChanged(by difference: Int) { unreadCount.add(difference, ordering: .relaxed) }
    func opened() { connectionCount.add(1, ordering: .relaxed) }
    func closed() { connectionCount.subtract(1, ordering: .relaxed) }
}
