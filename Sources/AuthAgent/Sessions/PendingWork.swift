internal import Synchronization

/// Work that waits until one task begins all of it.
final class PendingWork: Sendable {
    private let pending = Mutex<[TaskPool.Work]>([])

    /// - Returns: whether no other work was waiting. Then the caller must begin all of it.
    func add(_ work: @escaping TaskPool.Work) -> Bool {
        pending.withLock { pending in
            pending.append(work)
            return pending.count == 1
        }
    }

    func removeAll() -> [TaskPool.Work] {
        pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
    }
}
