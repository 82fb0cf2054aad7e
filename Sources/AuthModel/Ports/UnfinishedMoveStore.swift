/// Stores an unfinished move across runs.
package protocol UnfinishedMoveStore: Sendable {
    func load() async -> UnfinishedMove?
    /// The move is on disk when this returns, even if the task is cancelled; `nil`: nothing is left to do.
    func save(_ move: UnfinishedMove?) async throws(StoreError)
}

/// For an agent that never moves sessions.
package struct NoUnfinishedMoveStore: UnfinishedMoveStore {
    package init() {}

    package func load() -> UnfinishedMove? { nil }
    package func save(_ move: UnfinishedMove?) {}
}
