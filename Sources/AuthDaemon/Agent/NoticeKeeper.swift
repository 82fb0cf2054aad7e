package import AuthCore
package import AuthWire
package import Logging
import ServiceLifecycle

/// Tells the person what ``NoticeMachine`` decides: by events on the socket, and on the desktop unless that is turned
/// off.
package struct NoticeKeeper: Service {
    private enum Happening {
        case changed, wake
        case turned(on: Bool)
        case response(NoticeResponse)
    }

    private enum Due {
        case staleness
    }

    private let table: SessionTable
    private let desktop: any Notifier
    private let isOn: StateBroadcast<Bool>
    private let clock: any SystemClock
    private let publish: @Sendable (AgentEvent) -> Void
    private let logger: Logger
    private let alarms: Alarms<Due>

    /// - Parameters:
    ///   - isOn: whether anything is shown on the desktop.
    ///   - publish: called for each event; it must not wait.
    package init(
        table: SessionTable, desktop: any Notifier, isOn: StateBroadcast<Bool>, clock: any SystemClock,
        publish: @escaping @Sendable (AgentEvent) -> Void, logger: Logger
    ) {
        self.table = table
        self.desktop = desktop
        self.isOn = isOn
        self.clock = clock
        self.publish = publish
        self.logger = logger
        alarms = Alarms(clock: clock)
    }

    package func run() async throws {
        let (happenings, bell) = AsyncStream.makeStream(of: Happening.self)
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in table.board.changes() { bell.yield(.changed) } }
            group.addTask { for await on in isOn.states() { bell.yield(.turned(on: on)) } }
            group.addTask { for await response in desktop.responses() { bell.yield(.response(response)) } }
            group.addTask { await alarms.run { _ in bell.yield(.wake) } }
            group.addTask { await follow(happenings) }
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }

    private func follow(_ happenings: AsyncStream<Happening>) async {
        var machine = NoticeMachine()
        for await happening in happenings {
            let event: NoticeEvent
            switch happening {
            case .changed: event = .looked(view)
            case .wake: event = .wake
            case .turned(let on):
                for notice in machine.shown.values {
                    if on { desktop.show(notice) } else { desktop.withdraw(notice.subject) }
                }
                continue
            case .response(.chosen(let subject)):
                if let notice = machine.shown[subject] { act(on: notice) }
                continue
            case .response(.dismissed(let subject)): event = .dismissed(subject)
            }
            carryOut(machine.handle(event, at: clock.now().boot))
        }
        // Nobody looks after them any more.
        for subject in machine.shown.keys { desktop.withdraw(subject) }
    }

    private var view: NoticeView {
        NoticeView(
            sessions: table.board.statuses(), network: table.board.network.state, store: table.board.store.state,
            storeKind: table.board.store.kind, isStoreWanted: table.board.isStoreWanted)
    }

    private func carryOut(_ actions: [NoticeAction]) {
        for action in actions {
            switch action {
            case .show(let notice):
                logger.notice("The person is told: \(notice.title).", metadata: ["reason": "\(notice.reason.rawValue)"])
                if isOn.current == true { desktop.show(notice) }
                tell("shown", notice)
            case .withdraw(let notice):
                desktop.withdraw(notice.subject)
                tell("withdrawn", notice)
            case .wakeAt(let deadline): alarms.set(deadline, for: .staleness)
            }
        }
    }

    /// The agent never asks for a password by itself: a sign-in is begun by who hears of the choice, or by the command
    /// that the notice names.
    private func act(on notice: Notice) {
        tell("chosen", notice)
        switch (notice.reason, notice.subject) {
        case (.stale, .session(let name)): table.tryNow(name)
        case (.keyringLocked, _): table.tryStoreNow()
        default: break
        }
    }

    private func tell(_ name: String, _ notice: Notice) {
        publish(
            AgentEvent(
                topic: .notice, name: name, at: clock.now().wall.unixSeconds, session: notice.session,
                notice: notice.info))
    }
}
