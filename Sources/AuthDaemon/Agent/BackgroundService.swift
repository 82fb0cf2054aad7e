import ServiceLifecycle

/// Does one thing for as long as the agent runs. At the agent's end the work is cancelled.
struct BackgroundService: Service {
    /// For the log.
    let name: String
    let work: @Sendable () async -> Void

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await work() }
            // Thrown when the group is cancelled, which ends it too.
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }
}
