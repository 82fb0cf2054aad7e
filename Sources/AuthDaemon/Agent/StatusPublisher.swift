package import AuthAgent
package import AuthFiles
import AuthModel
package import AuthWire
import Glibc
package import Logging
import ServiceLifecycle

/// Writes the state of the sessions to the prompt file, the service manager's status line and the log. Changes that arrive
/// while one is written, or in the pause after it, count as one.
package struct StatusPublisher: Service {
    private let board: StateBoard
    private let prompt: AtomicFile
    private let notifier: ServiceNotifier
    private let logger: Logger

    package init(board: StateBoard, prompt: AtomicFile, notifier: ServiceNotifier, logger: Logger) {
        self.board = board
        self.prompt = prompt
        self.notifier = notifier
        self.logger = logger
    }

    package func run() async throws {
        var written: String?
        // The notifier sends it when the manager receives messages, unless there is a newer status by then.
        var reported: String?
        var log = StateLog(logger: logger)
        var hasWarnedOfSwap = false
        for await _ in board.changes().cancelOnGracefulShutdown() {
            await ChangePace.follow {
                let statuses = board.statuses()
                let line = PromptLine.text(for: statuses, hidesSessions: board.hidesSessions)
                if line != written {
                    write(line)
                    written = line
                }
                let status = StatusLine.text(sessions: statuses, store: board.store, isLocked: board.isLocked)
                if status != reported { notifier.status(status) }
                reported = status
                log.record(statuses, store: board.store, network: board.network.state)
                if !hasWarnedOfSwap, SecretPages.shared.usage.unlocked > 0 {
                    logger.warning("Secrets may be written to swap: the kernel locks no more pages (LimitMEMLOCK=).")
                    hasWarnedOfSwap = true
                }
                return statuses.count
            }
        }
        try? prompt.remove(durably: false)
    }

    private func write(_ line: String) {
        do throws(SystemFailure) {
            try prompt.replace(with: Array(PromptLine.file(line, agent: getpid()).utf8), durably: false)
        } catch {
            logger.warning("The prompt line is not up to date: \(error)")
        }
    }
}

/// What `systemctl --user status authd` shows: of a user only the names of the sessions.
package enum StatusLine {
    /// Sessions that are named; the rest is a number.
    private static let shown = 8

    package static func text(_ board: StateBoard) -> String {
        text(sessions: board.statuses(), store: board.store, isLocked: board.isLocked)
    }

    package static func text(sessions: [SessionStatus], store: StoreInfo, isLocked: Bool = false) -> String {
        var parts: [String] = isLocked ? ["locked"] : []
        // An agent that starts at boot has no terminal to ask on. Until it is unlocked, it may not know which sessions exist.
        let needsPassphrase = store.kind.isSealed && store.state == .locked
        if store.state != .ready {
            let command = needsPassphrase ? " (authc store unlock)" : ""
            parts.append("store \(store.kind.rawValue) \(store.state.rawValue)\(command)")
        }
        if sessions.isEmpty, !needsPassphrase { parts.append("nobody signed in") }
        for status in sessions.prefix(shown) {
            let state = status.state.rawValue
            let cause = status.cause.flatMap { $0 == state ? nil : " (\($0))" }
            parts.append("\(status.session) \(state)" + (cause ?? ""))
        }
        if sessions.count > shown { parts.append("\(sessions.count - shown) more") }
        if store.kind == .memory { parts.append("in memory until authd ends") }
        return parts.joined(separator: ", ")
    }
}
