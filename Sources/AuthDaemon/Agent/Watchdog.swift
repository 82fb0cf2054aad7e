package import NIOCore
import ServiceLifecycle

/// Shows the service manager that the loop of the clients turns: it is the loop that speaks, at half the time that is allowed.
package struct Watchdog: Service {
    private let loop: any EventLoop
    private let interval: Duration
    private let notifier: ServiceNotifier

    package init(loop: any EventLoop, interval: Duration, notifier: ServiceNotifier) {
        self.loop = loop
        self.interval = interval
        self.notifier = notifier
    }

    package func run() async throws {
        let half = TimeAmount(interval / 2)
        let task = loop.scheduleRepeatedTask(initialDelay: .zero, delay: half) { [notifier] _ in notifier.alive() }
        defer { task.cancel() }
        try? await gracefulShutdown()
    }
}
