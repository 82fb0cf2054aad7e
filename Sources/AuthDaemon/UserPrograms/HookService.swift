package import AuthAgent
package import AuthConcurrency
import AuthMachines
package import AuthModel
package import AuthWire
package import Logging
import ServiceLifecycle
import Synchronization

/// Receives the agent's events from any thread, and keeps those that have hooks.
package struct HookFeed: Sendable {
    /// Those that may arrive before the service runs.
    private static let backlog = 256

    private let hooks: StateBroadcast<[Hook]>
    fileprivate let runs: AsyncStream<HookRun>
    private let continuation: AsyncStream<HookRun>.Continuation

    package init(hooks: StateBroadcast<[Hook]>) {
        self.hooks = hooks
        (runs, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.backlog))
    }

    /// Does not wait.
    package func handle(_ event: AgentEvent) {
        for run in HookRun.all(for: event, of: hooks.current ?? []) { continuation.yield(run) }
    }
}

/// Runs the commands of hooks, as ``HookMachine`` decides.
package struct HookService: Service {
    private let feed: HookFeed
    private let runner: Runner<HookMachine>

    package init(context: AgentContext, feed: HookFeed, logger: Logger) {
        self.feed = feed
        runner = Runner(HookMachine(), performer: HookPerformer(logger: logger), tasks: context.tasks)
    }

    package func run() async throws {
        for await run in feed.runs.cancelOnGracefulShutdown() { await runner.send(.requested(run)) }
        await runner.send(.ended)
        await runner.close()
    }
}

private final class HookPerformer: ActionPerformer {
    private let logger: Logger
    private let process = Mutex<HookProcess?>(nil)
    private let thread = BlockingThread()

    init(logger: Logger) {
        self.logger = logger
    }

    func perform(_ action: HookAction, on runner: isolated Runner<HookMachine>) {
        switch action {
        case .start(let run):
            let command = HookLauncher.command(
                for: run.hook, runtimeFolder: Environment.value("XDG_RUNTIME_DIR"))
            let process = HookProcess(command: command, input: run.input)
            self.process.withLock { $0 = process }
            runner.start { [thread] in .finished(await thread.complete { process.run() }) }
        case .stop: process.withLock { $0 }?.stop()
        case .report(let run, let report): log(report, of: run.hook)
        case .reportDropped(let count):
            logger.warning("Hooks were not run because too many were waiting.", metadata: ["number": "\(count)"])
        }
    }

    /// Arguments are not logged: they may be private.
    private func log(_ report: HookReport, of hook: Hook) {
        let metadata: Logger.Metadata = ["event": "\(hook.event.rawValue)", "program": "\(hook.command[0])"]
        switch report {
        case .ended(.exited(0)): logger.debug("A hook has run.", metadata: metadata)
        case .ended(.exited(let status)): logger.warning("A hook ended with status \(status).", metadata: metadata)
        case .ended(.killed(let signal)): logger.warning("A hook was ended by signal \(signal).", metadata: metadata)
        case .ended(.notStarted(let reason)): logger.warning("A hook did not run: \(reason).", metadata: metadata)
        case .timedOut:
            logger.warning("A hook took longer than \(HookMachine.maxTime) and was killed.", metadata: metadata)
        }
    }
}
