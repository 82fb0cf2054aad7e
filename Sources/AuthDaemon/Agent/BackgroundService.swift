import ServiceLifecycle

/// Does one thing for as long as the agent runs. At the agent's end the work is cancelled.
package struct BackgroundService: Service {
    /// For the log.
    package let name: String
    private let work: @Sendable () async -> Void

    package init(name: String, work: @escaping @Sendable () async -> Void) {
        self.name = name
        self.work = work
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await work() }
            // Thrown when the group is cancelled, which ends it too.
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }
}
