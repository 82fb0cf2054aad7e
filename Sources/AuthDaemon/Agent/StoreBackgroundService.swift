import AuthAgent
import ServiceLifecycle

/// Passes on how the store is for as long as the agent runs.
struct StoreBackgroundService: Service {
    let store: MovableStore

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await store.run() }
            // Thrown when the group is cancelled, which ends it too.
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }
}
