import AuthConnection
import AuthWire
import CommandArguments
import Glibc

struct AgentCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent", abstract: "Control the agent.", subcommands: [Restart.self])

    struct Restart: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "restart",
            abstract: "Restart the agent now, with its sessions. After an upgrade it then runs the new program.",
            discussion: """
                Waits until the agent answers again, and prints its version. Requests in progress have 5 seconds. After an \
                upgrade, the agent restarts by itself when it is idle. A program that fails `authd --check` is not started: \
                the running agent stays. Needs a service manager such as systemd.
                """)

        @OptionGroup var common: GeneralOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let (info, json) = try AgentRestarting(options).run()
            if options.json { return try Output.jsonResult(json) }
            try Output.result(
                Visible.line("authd \(info.version), protocol \(info.protocolVersion), process \(info.pid)"))
            return .done
        }
    }
}

/// `agent restart`: from the request to the first answer of the next agent.
private struct AgentRestarting {
    /// The unit allows 15 s for the end of the agent.
    private static let defaultTimeout = Duration.seconds(30)
    /// Between two tries to connect to an agent without a socket unit, which has no socket for a moment.
    private static let pauseMilliseconds: Int32 = 100

    private let options: Options
    private let time: Duration
    private let deadline: Deadline

    init(_ options: Options) {
        self.options = options
        time = options.timeout ?? Self.defaultTimeout
        deadline = .after(time)
    }

    func run() throws(Failure) -> (info: AgentInfo, json: JSON) {
        let agent = try options.connect()
        let former = try requestRestart(from: agent)
        try waitForEnd(of: agent)
        while true {
            do throws(Failure) {
                let (info, json) = try options.connect().call(AgentInfoGet(), within: time)
                if info.pid != former { return (info, json) }
            } catch {
                guard Self.isBetweenAgents(error), !deadline.hasPassed else { throw error }
            }
            if deadline.hasPassed { throw Failure(.timedOut, doing: AgentRestart.name, within: time) }
            _ = poll(nil, 0, Self.pauseMilliseconds)
        }
    }

    /// - Returns: the process that ends; `nil`: the agent was already stopping, as after an upgrade.
    private func requestRestart(from agent: Agent) throws(Failure) -> Int32? {
        do throws(Failure) {
            return try agent.call(AgentRestart(), within: time).value.pid
        } catch {
            if Self.isBetweenAgents(error) { return nil }
            guard let agentError = error.agentError, agentError.code == AgentError.methodNotFound("").code else {
                throw error
            }
            throw Failure(
                status: .usage, kind: ErrorKind.unsupported.rawValue,
                message: "the running agent is older than this command",
                hint: "`systemctl --user restart authd` restarts it")
        }
    }

    /// The agent closes its connections when it serves no more clients.
    private func waitForEnd(of agent: Agent) throws(Failure) {
        do throws(ClientError) {
            while try agent.connection.nextMessage(deadline: deadline) != nil {}
        } catch {
            guard case .closed = error else { throw Failure(error, doing: AgentRestart.name, within: time) }
            return
        }
        throw Failure(.timedOut, doing: AgentRestart.name, within: time)
    }

    private static func isBetweenAgents(_ error: Failure) -> Bool {
        ["closed", "no_agent"].contains(error.kind) || error.agentError?.cause == "stopping"
    }
}
