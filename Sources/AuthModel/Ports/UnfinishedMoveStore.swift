/// Where an unfinished move outlives a run.
package protocol UnfinishedMoveStore: Sendable {
    func load() async -> UnfinishedMove?
    /// It is on disk when this returns, even if the task is cancelled; `nil`: nothing is left to do.
    func save(_ move: UnfinishedMove?) async throws(StoreError)
}

/// Where there is no place for one: no session was ever moved.
package struct NoUnfinishedMoveStore: UnfinishedMoveStore {
    package init() {}

    package func load() -> UnfinishedMove? { nil }
    package func save(_ move: UnfinishedMove?) {}
}
