import AuthWire
import CommandArguments

struct Reload: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Make the agent read its settings and profiles again.",
        discussion: """
            If they have an error, nothing changes and the exit status is 78. If the agent's user unit is installed but not \
            running, its socket is started.
            """)

    @OptionGroup var common: GeneralOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        AgentStart.ifNeeded(options)
        let agent = try options.connect()
        do throws(Failure) {
            let (result, json) = try agent.call(AgentReload())
            if options.json { try Output.json(json) } else { Output.note(Visible.lines(result.message ?? "Done.")) }
            return .done
        } catch {
            guard let agentError = error.agentError, agentError.kind == .validation else { throw error }
            throw Failure(status: .badSettings, kind: error.kind, message: agentError.message, agentError: agentError)
        }
    }
}
