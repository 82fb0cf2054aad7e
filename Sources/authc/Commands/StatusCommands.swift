import ArgumentParser
import AuthWire

struct Status: AgentCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the account, the provider, the state and the token's lifetime.")

    @OptionGroup var common: CommonOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus { try StatusReport.run(options) }
}

struct List: AgentCommand {
    static let configuration = CommandConfiguration(abstract: "List all sessions; * is the default.")

    @OptionGroup var common: GeneralOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus { try SessionCommands.list(options) }
}

struct Use: AgentCommand {
    static let configuration = CommandConfiguration(abstract: "Make a session the default.")

    @OptionGroup var common: GeneralOptions

    @Argument(help: "The session.", completion: .custom { _, _, _ in KnownNames.sessions() })
    var name: String

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let params = SessionUse(session: try Options.sessionName(name))
        return try StatusReport.run(params, options) { _ in .done }
    }
}

struct Refresh: AgentCommand {
    static let configuration = CommandConfiguration(abstract: "Renew the token now.")

    @OptionGroup var common: CommonOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try StatusReport.run(SessionRefresh(SessionParams(session: options.chosenSession())), options)
    }
}

struct Validate: AgentCommand {
    static let configuration = CommandConfiguration(abstract: "Ask the provider whether the session is still valid.")

    @OptionGroup var common: CommonOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try StatusReport.run(SessionValidate(SessionParams(session: options.chosenSession())), options)
    }
}

struct Whoami: AgentCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the account's e-mail address, name or id. With --set, change the account first.")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Ask the provider, even if the user is already known.")
    var fresh = false

    @Option(
        help: ArgumentHelp("Change a field: NAME=TEXT, NAME=@FILE or NAME:=JSON.", valueName: "field"))
    var set: [String] = []

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try SessionCommands.whoami(options, fresh: fresh, changes: try CallArguments(set, secretDescriptors: []))
    }
}

struct Prompt: AgentCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the line for a shell's prompt without calling the agent.")

    @OptionGroup var common: GeneralOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus { try PromptReport.run(options) }
}
