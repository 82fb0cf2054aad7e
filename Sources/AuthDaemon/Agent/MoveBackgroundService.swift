import AuthAgent
import ServiceLifecycle

/// Ends a move of sessions that was cut off with an earlier run.
struct MoveBackgroundService: Service {
    let desk: StoreAdmin

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await desk.finishMove() }
            // Thrown when the group is cancelled, which ends it too.
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }
}
