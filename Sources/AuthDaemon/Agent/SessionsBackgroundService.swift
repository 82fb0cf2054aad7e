package import AuthAgent
package import AuthModel
package import Logging
import ServiceLifecycle

/// Runs the sessions in the background. At the end it writes what is unwritten, even if it is cancelled.
package struct SessionsBackgroundService: Service {
    /// For unwritten sessions: within the 10 s that a user waits for a service to stop.
    package static let drainLimit = Duration.seconds(4)

    private let loader: SessionLoader
    private let registry: SessionRegistry
    private let clock: any SystemClock
    private let logger: Logger
    private let stop: ShutdownDeadline

    /// - Parameter stop: the end of requests to providers, counted from when the agent began to stop.
    package init(
        loader: SessionLoader, registry: SessionRegistry, clock: any SystemClock, logger: Logger, stop: ShutdownDeadline
    ) {
        self.loader = loader
        self.registry = registry
        self.clock = clock
        self.logger = logger
        self.stop = stop
    }

    package func run() async throws {
        try await BackgroundService(name: "sessions") { await loader.run(last: finish) }.run()
    }

    private func finish() async {
        let deadline = stop.deadline(at: clock.now().boot)
        let done = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await registry.finish(until: deadline)
                return true
            }
            group.addTask {
                try? await clock.sleep(until: deadline + Self.drainLimit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        if !done { logger.error("The store did not accept all writes in time.") }
    }
}
