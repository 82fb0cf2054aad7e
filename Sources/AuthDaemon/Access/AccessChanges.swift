import Synchronization

/// Counts the changes of settings and rules. What was derived from an earlier generation is derived again. Any thread uses it.
package final class AccessChanges: Sendable {
    private let count = Atomic<Int>(0)
    private let notify: @Sendable () -> Void

    /// - Parameter notify: called after each change, on the thread that made it. It may send to the service manager.
    package init(notify: @escaping @Sendable () -> Void = {}) { self.notify = notify }

    var generation: Int { count.load(ordering: .acquiring) }

    func changed() {
        count.add(1, ordering: .releasing)
        notify()
    }
}
