internal import Synchronization

/// Work that begins later, together.
final class HeldWork: Sendable {
    private let works = Mutex<[TaskPool.Work]>([])

    /// - Returns: whether it is the first. Then the caller begins all of it.
    func add(_ work: @escaping TaskPool.Work) -> Bool {
        works.withLock { works in
            works.append(work)
            return works.count == 1
        }
    }

    func removeAll() -> [TaskPool.Work] {
        works.withLock { works in
            defer { works = [] }
            return works
        }
    }
}
