import AuthAgent
import AuthConcurrency
import AuthFiles
import AuthMachines
import AuthModel
import AuthWire
import Logging

/// Opens the window of a notice's button, and reports its result.
struct NoticeOpener: Sendable {
    private let context: AgentContext
    private let registry: SessionRegistry
    private let windows: WindowProgram
    private let logger: Logger

    init(context: AgentContext, registry: SessionRegistry, windows: WindowProgram, logger: Logger) {
        self.context = context
        self.registry = registry
        self.windows = windows
        self.logger = logger
    }

    /// - Returns: `nil` if the task was cancelled first.
    func open(_ notice: Notice, activation: String?) async -> NoticeEvent? {
        // The session may have been signed out meanwhile.
        guard let command = await command(for: notice) else {
            return .windowClosed(notice.subject, signedIn: false, nil)
        }
        let usesBrowser = command.usesBrowser && notice.button?.action == .signIn(terminal: false)
        let failure: NoticeFailure = usesBrowser ? .inBrowser : .noTerminal
        guard let program = windows.authc, SignInCommand.isPlain(command.arguments) else {
            logger.warning(
                "A notice's window was not opened: authc is not beside authd, or a shell could misread the command.")
            return .windowClosed(notice.subject, signedIn: false, failure)
        }
        let window = NoticeWindow(
            program: program, socket: windows.socket, arguments: command.arguments, usesBrowser: usesBrowser,
            activation: activation)
        let result = await BlockingThread().run {
            Result { () throws(SystemFailure) in
                try window.process.run(runtimeFolder: Environment.value("XDG_RUNTIME_DIR"))
            }
        }
        switch result {
        case nil: return nil
        case .success(0): return .windowClosed(notice.subject, signedIn: usesBrowser, nil)
        case .success(let status):
            logger.notice("A notice's window ended with status \(status).")
        case .failure(let error):
            logger.warning("A notice's window was not opened: \(error.description).")
        }
        return .windowClosed(notice.subject, signedIn: false, failure)
    }

    func command(for notice: Notice) async -> SignInCommand? {
        // A locked agent refuses the other commands.
        if context.board.isLocked { return .unlock }
        guard let name = notice.session else { return .openStore }
        if context.board.status(name)?.state != .signInRequired,
            let missing = context.board.missingScopes.first(where: { $0.session == name })
        {
            return missing.command
        }
        return await registry.signInCommand(of: name)
    }
}
