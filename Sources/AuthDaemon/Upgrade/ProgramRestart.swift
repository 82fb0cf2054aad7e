import AuthConcurrency
package import AuthModel
package import AuthWire
import Glibc
import Synchronization

/// Has the service manager restart the agent, so that it runs the program that its file has now. The sessions are handed over
/// as at any restart (Docs/decisions/handover.md). A request and an upgrade may ask for it at the same time.
package final class ProgramRestart: Sendable {
    /// Runs a command to its end, or until it has taken too long.
    typealias Run = @Sendable ([String]) async -> HookOutcome

    static let systemctl = "/usr/bin/systemctl"
    /// For a check or a call of the manager: a check reads some files.
    private static let longestCommand = Duration.seconds(20)

    private let program: ProgramFile?
    /// Those of this process.
    private let arguments: [String]
    private let unit: String?
    private let run: Run
    /// A restart was ordered: SIGTERM reaches all processes of the unit.
    private let isOrdered = Atomic(false)

    /// - Parameters:
    ///   - program: `nil`: its file is not known, so it is not checked.
    ///   - unit: the service that this process is; `nil`: no service manager starts it.
    init(program: ProgramFile?, arguments: [String], unit: String?, run: @escaping Run) {
        self.program = program
        self.arguments = arguments
        self.unit = unit
        self.run = run
    }

    package static func ofThisProcess(_ program: ProgramFile?, clock: any SystemClock) -> ProgramRestart {
        ProgramRestart(
            program: program, arguments: Array(CommandLine.arguments.dropFirst()), unit: ownService,
            run: { await finished($0, clock: clock) })
    }

    /// The manager sets the variable for the first process of a service (systemd.exec(5)), and children inherit it.
    private static var ownService: String? {
        guard Environment.value("SYSTEMD_EXEC_PID") == "\(getpid())", let unit = Journal.unit,
            unit.hasSuffix(".service")
        else { return nil }
        return unit
    }

    /// Whether a service manager starts this agent.
    package var isPossible: Bool { unit != nil }

    /// The commands that restart this agent, for messages.
    package var commands: String {
        unit == nil ? "`kill \(getpid())`, then `\(startCommand)`" : "`authc agent restart`"
    }

    /// - Parameter obstacle: a lasting one.
    package func info(_ obstacle: RestartObstacle?) -> RestartInfo {
        RestartInfo(
            unit: unit, command: unit == nil ? startCommand : nil,
            obstacle: obstacle?.lasting ?? (unit == nil ? .noManager : nil))
    }

    private var startCommand: String { (["authd"] + arguments).map(ShellWord.quoted).joined(separator: " ") }

    /// Checks the program, and has the manager restart the unit. Then SIGTERM is on its way.
    /// - Parameter isAllowed: asked between the two; it may throw its own error.
    /// - Returns: `false` if it was not allowed.
    /// - Throws: `unsupported` without a manager, `validation` if the program fails its check, `internal` if the
    ///   manager refuses.
    package func begin(if isAllowed: @Sendable () throws(AgentError) -> Bool) async throws(AgentError) -> Bool {
        guard let unit else { throw .noServiceManager(startCommand) }
        if let program {
            let outcome = await run([program.path] + arguments + ["--check"])
            // The restart that was ordered meanwhile may have ended the check.
            guard !isOrdered.load(ordering: .acquiring) else { return true }
            guard outcome == .exited(0) else { throw .failsCheck(program.path, outcome) }
        }
        guard try isAllowed() else { return false }
        guard !isOrdered.exchange(true, ordering: .acquiringAndReleasing) else { return true }
        let outcome = await run([Self.systemctl, "--user", "--no-block", "restart", "--", unit])
        // The manager may end all processes of the unit before the command ends by itself.
        guard [.exited(0), .killed(signal: SIGTERM)].contains(outcome) else {
            isOrdered.store(false, ordering: .releasing)
            throw .notRestarted(unit, outcome)
        }
        return true
    }

    private static func finished(_ command: [String], clock: any SystemClock) async -> HookOutcome {
        let process = HookProcess(command: command, input: [])
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await clock.sleep(until: clock.now().boot + longestCommand)) != nil else { return }
                process.stop()
            }
            defer { group.cancelAll() }
            return await BlockingThread().complete { process.run() }
        }
    }
}

extension AgentError {
    fileprivate static func noServiceManager(_ command: String) -> AgentError {
        AgentError(
            .unsupported,
            "No service manager has started this agent, so none can restart it: `kill \(getpid())` ends it, and "
                + "`\(command)` starts it again.")
    }

    fileprivate static func failsCheck(_ path: String, _ outcome: HookOutcome) -> AgentError {
        AgentError(
            .validation,
            "The agent was not restarted, because its program fails the check (\(outcome.text)): "
                + "`\(ShellWord.quoted(path)) --check` shows why.")
    }

    fileprivate static func notRestarted(_ unit: String, _ outcome: HookOutcome) -> AgentError {
        AgentError(
            .internal_,
            "The service manager has not restarted the agent (\(outcome.text)): `systemctl --user restart \(unit)` "
                + "shows why.")
    }

    /// For `agent.restart`.
    package static let sessionsInMemory = AgentError(
        .conflict, "The sessions are in memory and would end with the agent: sign out of them first.")

    /// The same. The tokens need a check of presence, or nothing is handed over.
    static func tokensNotStored(_ sessions: String) -> AgentError {
        AgentError(
            .conflict,
            "The newest tokens of \(sessions) are not stored yet, and a restart would lose them: "
                + "unlock the store first, for example with `authc store unlock`.")
    }
}

extension HookOutcome {
    fileprivate var text: String {
        switch self {
        case .exited(let status): "status \(status)"
        case .killed(let signal): "ended by signal \(signal)"
        case .notStarted(let reason): reason
        }
    }
}
