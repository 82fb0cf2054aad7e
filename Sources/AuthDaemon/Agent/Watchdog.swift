import ServiceLifecycle

/// Shows the service manager that the thread of the sockets works: that thread sends the sign of life, at half the time that is
/// allowed.
package actor Watchdog: Service {
    private let executor: SocketExecutor
    private let interval: Duration
    private let notifier: ServiceNotifier
    private var next: TimerID?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    package init(executor: SocketExecutor, interval: Duration, notifier: ServiceNotifier) {
        self.executor = executor
        self.interval = interval
        self.notifier = notifier
    }

    package func run() async throws {
        beat()
        try? await gracefulShutdown()
        if let next { executor.cancel(next) }
    }

    private func beat() {
        notifier.alive()
        next = executor.schedule(in: interval / 2) { self.assumeIsolated { $0.beat() } }
    }
}
