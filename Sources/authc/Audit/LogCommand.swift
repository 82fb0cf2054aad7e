import AuthWire
import CommandArguments

struct LogCommand: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show which programs got tokens, called APIs or changed the agent.",
        discussion: "The newest entries are last. The agent keeps 1024 of them; the journal has them too.")

    @OptionGroup var common: GeneralOptions

    @Option(name: .short, help: ArgumentHelp("How many entries.", valueName: "number"), completion: .nothing)
    var number = 20

    func validate() throws(ValidationError) {
        guard number > 0 else { throw ValidationError("-n needs a number above 0.") }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let (log, json) = try options.connect().call(AuditListGet(limit: number))
        if options.json { return try Output.jsonResult(json) }
        if log.unlogged > 0 {
            Output.note(
                "Lines missing from the log: \(log.unlogged). There were too many at once, or the log was too slow.")
        }
        guard !log.entries.isEmpty else {
            Output.note("Nothing has been recorded since the agent was started.")
            return .done
        }
        try Output.result(AuditText(entries: log.entries, now: WallClock.now, screen: .current).text)
        return .done
    }
}
