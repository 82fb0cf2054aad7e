import Synchronization

/// Lets one task at a time move sessions or remove copies.
final class MovePermit: Sendable {
    private let isTaken = Atomic(false)

    /// - Returns: whether the caller has it now, and releases it later.
    func acquire() -> Bool { !isTaken.exchange(true, ordering: .sequentiallyConsistent) }

    func release() { isTaken.store(false, ordering: .sequentiallyConsistent) }
}
