import AuthConnection
import AuthWire
import CommandArguments
import Glibc

struct Token: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print an access token that is valid now, or report one that was refused.")

    @OptionGroup var common: CommonOptions

    @OptionGroup var choice: TokenChoice

    @Flag(help: "Read a token from stdin that got a 401, and print nothing. If it is the current one, it is renewed.")
    var reject = false

    func validate() throws(ValidationError) {
        guard reject, choice.minValid != nil || !choice.scope.isEmpty || choice.audience != nil else { return }
        throw ValidationError("--reject reads the token from stdin: remove --min-valid, --scope and --audience.")
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let request = try choice.request(options)
        return reject ? try TokenReport.reject(options, request) : try TokenReport.run(options, request)
    }
}

struct Wait: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until a session is active or signed out, or until there is a network.")

    @OptionGroup var common: CommonOptions

    @Option(
        help: "active, online (there is a network) or signed_out. Default: active.",
        completion: .words(WaitGoal.self), transform: goal)
    var until: WaitGoal = .active

    /// How often in a row the agent may be gone. It is started again after an upgrade, or after a crash.
    private static let maxRestarts = 5
    /// After a wait of this length, earlier restarts do not count any more.
    private static let restartTime = Duration.seconds(60)

    /// Without `--timeout`, waits without limit: if the agent ends its own wait, or is started again, this one starts again.
    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let session = try options.chosenSession()
        var agent = Optional(try options.connect())
        var restarts = 0
        let params = SessionWait(session: session, until: until, timeout: options.timeout)
        let time = options.timeout.map { $0 + Agent.grace } ?? Limits.longestDuration
        while true {
            let restartEnd = Deadline.after(Self.restartTime)
            do throws(Failure) {
                let connected = if let agent { agent } else { try options.connect() }
                agent = connected
                let (status, json) = try connected.call(params, within: time)
                try StatusReport.show(status, json, options)
                return .done
            } catch {
                if until == .signedOut, let agentError = error.agentError, agentError.kind == .notSignedIn,
                    agentError.cause == nil
                {
                    if options.json { try Output.json(.null) } else { Output.note("The session is signed out.") }
                    return .done
                }
                guard options.timeout == nil else { throw error }
                if error.agentError?.kind == .timeout {
                    restarts = 0
                    continue
                }
                if restartEnd.hasPassed { restarts = 0 }
                let isRestart =
                    ["closed", "no_agent"].contains(error.kind) || error.agentError?.cause == "stopping"
                guard isRestart, restarts < Self.maxRestarts else { throw error }
                restarts += 1
                // Starting it again may take a few seconds: each pause is longer than the one before.
                _ = poll(nil, 0, Int32(restarts * 1000))
                agent = nil
            }
        }
    }
}

struct WatchCommand: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show changes as they happen.",
        discussion: "A terminal shows a live view. Otherwise, prints a line for each change, as JSON with --json.")

    @OptionGroup var common: CommonOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus { try Watch.run(options) }
}

private func goal(_ text: String) throws(ValidationError) -> WaitGoal { try word(text) }
