package import AuthAgent
package import AuthConcurrency
import AuthMachines
package import AuthModel
package import AuthWire
package import Logging
import ServiceLifecycle

/// Notifies the user of what ``NoticeMachine`` decides: with events on the socket, and on the desktop unless that is turned
/// off.
package struct NoticeService: Service {
    private let board: StateBoard
    private let desktop: any Notifier
    private let isOn: StateBroadcast<Bool>
    private let runner: Runner<NoticeMachine>

    /// - Parameters:
    ///   - isOn: whether notices are shown on the desktop.
    ///   - windows: opens what a click asks for.
    ///   - publish: called with each event; it must not wait.
    package init(
        context: AgentContext, registry: SessionRegistry, sessions: SessionRequests, loader: SessionLoader,
        desktop: any Notifier, isOn: StateBroadcast<Bool>, windows: WindowProgram,
        publish: @escaping @Sendable (AgentEvent) -> Void, logger: Logger
    ) {
        board = context.board
        self.desktop = desktop
        self.isOn = isOn
        let performer = NoticePerformer(
            sessions: sessions, loader: loader, desktop: desktop, clock: context.clock,
            opener: NoticeOpener(context: context, registry: registry, windows: windows, logger: logger),
            publish: publish, logger: logger)
        runner = Runner(NoticeMachine(), performer: performer, tasks: context.tasks)
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in board.changes() {
                    await ChangePace.follow {
                        await look(runner)
                        return board.sessionCount
                    }
                }
            }
            group.addTask { for await on in isOn.states() { await runner.send(.turned(on: on)) } }
            group.addTask {
                for await response in desktop.responses() {
                    switch response {
                    case .chosen(let subject, let key, let activation):
                        await runner.send(.chosen(subject, key: key, activation: activation))
                    case .dismissed(let subject): await runner.send(.dismissed(subject))
                    }
                }
            }
            try? await gracefulShutdown()
            group.cancelAll()
        }
        await runner.send(.ended)
        await runner.close()
    }

    /// Reports the sessions that a notice may be about. The machine knows which, so they are read on its runner.
    private func look(_ runner: isolated Runner<NoticeMachine>) {
        let sessions = runner.read { machine in board.statuses { machine.mayConcern($0) } }
        runner.send(
            .changed(
                NoticeInput(
                    sessions: sessions, network: board.network.state, store: board.store.state,
                    storeKind: board.store.kind, isStoreRequested: board.isStoreRequested,
                    missingScopes: board.missingScopes)))
    }
}

private struct NoticePerformer: ActionPerformer {
    let sessions: SessionRequests
    let loader: SessionLoader
    let desktop: any Notifier
    let clock: any SystemClock
    let opener: NoticeOpener
    let publish: @Sendable (AgentEvent) -> Void
    let logger: Logger

    func perform(_ action: NoticeAction, on runner: isolated Runner<NoticeMachine>) {
        switch action {
        case .show(let notice): desktop.show(notice)
        case .withdraw(let subject): desktop.withdraw(subject)
        case .publish(let change, let notice):
            if change == .shown {
                logger.notice("Notice: \(notice.title).", metadata: ["reason": "\(notice.reason.rawValue)"])
            }
            publish(
                AgentEvent(
                    topic: .notice, name: change.rawValue, at: clock.now().wall.unixSeconds, session: notice.session,
                    notice: notice.info))
        case .openWindow(let notice, let activation):
            runner.start { [opener] in await opener.open(notice, activation: activation) }
        case .retry(let notice):
            if let session = notice.session { sessions.startRenewal(of: session) } else { loader.startRetry() }
        }
    }
}
