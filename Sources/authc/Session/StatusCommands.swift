import AuthWire
import CommandArguments

/// How sessions are printed, beside ``GeneralOptions``.
struct FormatOptions: ParsableArguments {
    @Option(
        name: .customLong("json"), defaultAsFlag: "",
        help: ArgumentHelp("Print JSON, errors too; with names, only these fields.", valueName: "field,..."),
        completion: .sessionFields)
    var json: String?

    @Option(
        help: ArgumentHelp(
            "Print each session as this text, with fields such as {{name}}, {{state}} and {{left}} in it.",
            valueName: "template"), completion: .templates)
    var format: String?
}

struct Status: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the account, the provider, the state and the token's lifetime.")

    @OptionGroup var session: SessionOption
    @OptionGroup var selection: FormatOptions
    @OptionGroup var common: PlainOptions

    var options: Options {
        var options = common.options
        (options.session, options.json) = (session.session, selection.json != nil)
        return options
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try StatusReport.run(options, SessionFormat(json: selection.json, template: selection.format))
    }
}

struct List: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all sessions; * is the default.",
        discussion: """
            In a file or pipe: no header, and the columns session, state, expiry, default, provider, environment and account; \
            - is an empty one.
            """)

    @OptionGroup var selection: FormatOptions
    @OptionGroup var common: PlainOptions

    var options: Options {
        var options = common.options
        options.json = selection.json != nil
        return options
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let format = try SessionFormat(json: selection.json, template: selection.format)
        let (list, json) = try options.connect().call(SessionListGet())
        let now = WallClock.now
        let known = zip(list.sessions, json["sessions"]?.arrayValue ?? []).map { SessionFields($0, $1, now: now) }
        switch format {
        case .json: try Output.json(json)
        case .fields(let names): try Output.json(["sessions": .array(known.map { $0.json(names) })])
        case .template(let template):
            if !known.isEmpty { try Output.result(known.map(template.line).joined(separator: "\n")) }
        case .screen where list.sessions.isEmpty:
            Output.note("There are no sessions. Sign in: `authc login`")
        case .screen:
            try Output.result(SessionTableText(sessions: list.sessions, now: now, screen: .current).text)
            // All of them are in one store, so one message is enough.
            let locked = list.sessions.first { $0.state == .keyringLocked && $0.message != nil }
            if let message = locked?.message { Output.note(Visible.lines(message)) }
        }
        return .done
    }
}

struct Use: AgentCommand {
    static let configuration = CommandConfiguration(commandName: "use", abstract: "Make a session the default.")

    @OptionGroup var common: GeneralOptions

    @Argument(help: "The session.", completion: .sessions)
    var name: String

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let params = SessionUse(session: try Options.sessionName(name))
        return try StatusReport.run(params, options) { _ in .done }
    }
}

struct Refresh: AgentCommand {
    static let configuration = CommandConfiguration(commandName: "refresh", abstract: "Renew the token now.")

    @OptionGroup var common: CommonOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try StatusReport.run(SessionRefresh(SessionParams(session: options.chosenSession())), options)
    }
}

struct Validate: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Ask the provider whether the session is still valid.")

    @OptionGroup var common: CommonOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let agent = try options.connect()
        if (try? agent.call(NetworkStatusGet(), within: StatusReport.networkTimeout))?.value.state == .offline {
            let limit = options.timeout.map(Span.text) ?? "a minute"
            Output.note("There is no network. If the provider's profile says so, authd waits up to \(limit) for one.")
        }
        let (status, json) = try agent.call(
            SessionValidate(session: options.chosenSession(), timeout: options.timeout))
        try StatusReport.show(status, json, options)
        return ExitStatus(status.state)
    }
}

struct Whoami: AgentCommand {
    /// In milliseconds. The age of a younger user is not reported.
    private static let reportableAge = 3_600_000

    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Print the account's e-mail address, name or id. With --set, change the account first.")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Ask the provider, even if the user is already known.")
    var fresh = false

    @Option(
        help: ArgumentHelp("Change a field: NAME=TEXT, NAME=@FILE or NAME:=JSON.", valueName: "field"),
        completion: .nothing)
    var set: [String] = []

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let session = try options.chosenSession()
        let fields = try CallArguments(set, secretDescriptors: []).fields()
        let agent = try options.connect()
        let (result, json) =
            fields.isEmpty
            ? try agent.call(UserGet(session: session, fresh: fresh))
            : try agent.call(UserUpdate(session: session, fields: fields))
        if options.json { return try Output.jsonResult(json) }
        guard let name = result.user.email ?? result.user.name ?? result.user.id else {
            guard fields.isEmpty else {
                Output.note("Changed. The provider does not report who this is.")
                return .done
            }
            throw Failure(
                status: .badReply, kind: ErrorKind.badReply.rawValue,
                message: "the provider does not report who this is",
                hint: "`authc whoami --json` shows all that it reports")
        }
        try Output.result(Visible.line(name))
        if let age = result.ageMs, age >= Self.reportableAge {
            Output.note("from \(Span.text(.milliseconds(age))) ago; --fresh asks the provider")
        }
        return .done
    }
}

struct Prompt: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "prompt", abstract: "Print the line for a shell's prompt without calling the agent.")

    @OptionGroup var common: PromptOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus { try PromptReport.run(options) }
}
