import ServiceLifecycle

/// Shows the service manager that the threads and actors that clients depend on work: the thread of the sockets sends the sign
/// of life, and only if the others have answered since the last one. A task makes each check.
package actor Watchdog: Service {
    /// Returns soon if its thread or its actors work.
    package typealias Check = @Sendable () async -> Void

    private let executor: SocketExecutor
    private let interval: Duration
    private let notifier: ServiceNotifier
    private let checks: [Check]
    private let onBeat: @Sendable () -> Void
    private var next: TimerID?
    /// Checks that have not answered yet, by their place in `checks`.
    private var pending: Set<Int> = []
    private var ask: [AsyncStream<Void>.Continuation] = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// There are three beats in an interval: a check that answers late once does not end the agent.
    private static let beatsOfInterval = 3

    /// - Parameter onBeat: called at each beat, for what is done now and then: it costs no further wake-up. It must not wait.
    package init(
        executor: SocketExecutor, interval: Duration, notifier: ServiceNotifier, checks: [Check],
        onBeat: @escaping @Sendable () -> Void = {}
    ) {
        self.executor = executor
        self.interval = interval
        self.notifier = notifier
        self.checks = checks
        self.onBeat = onBeat
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            for (index, check) in checks.enumerated() {
                let (questions, continuation) = AsyncStream.makeStream(
                    of: Void.self, bufferingPolicy: .bufferingNewest(1))
                ask.append(continuation)
                group.addTask {
                    for await _ in questions {
                        await check()
                        await self.answered(index)
                    }
                }
            }
            beat()
            try? await gracefulShutdown()
            if let next { executor.cancel(next) }
            for continuation in ask { continuation.finish() }
        }
    }

    private func beat() {
        if pending.isEmpty {
            notifier.alive()
            pending = Set(checks.indices)
            for continuation in ask { continuation.yield() }
        }
        onBeat()
        next = executor.schedule(in: interval / Self.beatsOfInterval) { self.assumeIsolated { $0.beat() } }
    }

    private func answered(_ index: Int) { pending.remove(index) }
}
