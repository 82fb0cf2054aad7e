package import AuthCore
package import Logging
import ServiceLifecycle

/// Runs the sessions in the background; at the end it writes what is unwritten.
package struct TableKeeper: Service {
    /// For the store to take what it has not: within the 10 s that a person waits for a service to stop.
    static let drainLimit = Duration.seconds(4)

    private let table: SessionTable
    private let clock: any SystemClock
    private let logger: Logger

    package init(table: SessionTable, clock: any SystemClock, logger: Logger) {
        self.table = table
        self.clock = clock
        self.logger = logger
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await table.run() }
            // Thrown when the group is cancelled: then too, what is unwritten is written first.
            try? await gracefulShutdown()
            await drain()
            group.cancelAll()
        }
    }

    private func drain() async {
        let deadline = clock.now().boot + Self.drainLimit
        let done = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await table.drain()
                return true
            }
            group.addTask {
                try? await clock.sleep(until: deadline)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        if !done { logger.error("The store did not take everything in time; it will be read as it is.") }
    }
}
