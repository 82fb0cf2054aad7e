package import AuthAgent
import ServiceLifecycle

/// Sends what waits in the outbox until the agent stops. A write that has no answer by the end of the agent is sent again.
package struct OutboxBackgroundService: Service {
    private let desk: Outbox

    package init(desk: Outbox) {
        self.desk = desk
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await desk.run() }
            // Thrown when the group is cancelled, which ends it too.
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }
}
