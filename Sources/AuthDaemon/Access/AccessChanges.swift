import Synchronization

/// Counts the changes of settings and rules. What was derived from an earlier generation is derived again. Any thread uses it.
package final class AccessChanges: Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    var generation: Int { count.load(ordering: .acquiring) }

    func changed() { count.add(1, ordering: .releasing) }
}
