import AuthWire
import CommandArguments

/// A command that runs with options and ends with an exit status.
protocol AgentCommand: ParsableCommand {
    associatedtype Common: CommandOptions
    var common: Common { get }
    /// Those of `common`, unless the command has its own.
    var options: Options { get }
    func run(_ options: Options) throws(Failure) -> ExitStatus
}

extension AgentCommand {
    var options: Options { common.options }

    /// - Returns: the exit status of the program.
    func run() -> Int32 { Program.run(options) { options throws(Failure) in try run(options) } }
}

protocol CommandOptions: ParsableArguments {
    var options: Options { get }
}

// `--no-input` is accepted everywhere, and is in the help of the commands that ask.

/// For a command with its own `--json`.
struct PlainOptions: CommandOptions {
    @Option(help: OptionHelp.timeout, completion: .lengths, transform: length)
    var timeout: Duration?

    @Option(help: OptionHelp.socket, completion: .file)
    var socket: String?

    @Flag(help: .hidden)
    var noInput = false

    var options: Options { Options(timeout: timeout, socket: socket, noInput: noInput) }
}

/// For every command that asks nothing.
struct GeneralOptions: CommandOptions {
    @Flag(help: OptionHelp.json)
    var json = false

    @Option(help: OptionHelp.timeout, completion: .lengths, transform: length)
    var timeout: Duration?

    @Option(help: OptionHelp.socket, completion: .file)
    var socket: String?

    @Flag(help: .hidden)
    var noInput = false

    var options: Options { Options(json: json, timeout: timeout, socket: socket, noInput: noInput) }
}

/// For a command that may ask.
struct AskingOptions: CommandOptions {
    @Flag(help: OptionHelp.json)
    var json = false

    @Option(help: OptionHelp.timeout, completion: .lengths, transform: length)
    var timeout: Duration?

    @Option(help: OptionHelp.socket, completion: .file)
    var socket: String?

    @Flag(help: OptionHelp.noInput)
    var noInput = false

    var options: Options { Options(json: json, timeout: timeout, socket: socket, noInput: noInput) }
}

/// For a command that is about a session.
struct CommonOptions: CommandOptions {
    @Option(name: [.short, .long], help: OptionHelp.session, completion: .sessions)
    var session: String?

    @Flag(help: OptionHelp.json)
    var json = false

    @Option(help: OptionHelp.timeout, completion: .lengths, transform: length)
    var timeout: Duration?

    @Option(help: OptionHelp.socket, completion: .file)
    var socket: String?

    @Flag(help: .hidden)
    var noInput = false

    var options: Options { Options(session: session, json: json, timeout: timeout, socket: socket, noInput: noInput) }
}

/// For a command that is about a session and may ask.
struct AskingCommonOptions: CommandOptions {
    @Option(name: [.short, .long], help: OptionHelp.session, completion: .sessions)
    var session: String?

    @Flag(help: OptionHelp.json)
    var json = false

    @Option(help: OptionHelp.timeout, completion: .lengths, transform: length)
    var timeout: Duration?

    @Option(help: OptionHelp.socket, completion: .file)
    var socket: String?

    @Flag(help: OptionHelp.noInput)
    var noInput = false

    var options: Options { Options(session: session, json: json, timeout: timeout, socket: socket, noInput: noInput) }
}

/// For a command that does not call the agent.
struct PromptOptions: CommandOptions {
    @Flag(help: OptionHelp.json)
    var json = false

    @Option(help: .hidden, completion: .lengths, transform: length)
    var timeout: Duration?

    @Option(help: OptionHelp.socket, completion: .file)
    var socket: String?

    @Flag(help: .hidden)
    var noInput = false

    var options: Options { Options(json: json, timeout: timeout, socket: socket, noInput: noInput) }
}

/// For a command that only reads files.
struct FileOptions: CommandOptions {
    @Flag(help: OptionHelp.json)
    var json = false

    @Option(help: .hidden, completion: .lengths, transform: length)
    var timeout: Duration?

    @Option(help: .hidden, completion: .file)
    var socket: String?

    @Flag(help: .hidden)
    var noInput = false

    var options: Options { Options(json: json, timeout: timeout, socket: socket, noInput: noInput) }
}

/// For a command that reads and writes files only, and may ask.
struct AskingFileOptions: CommandOptions {
    @Flag(help: OptionHelp.json)
    var json = false

    @Option(help: .hidden, completion: .lengths, transform: length)
    var timeout: Duration?

    @Option(help: .hidden, completion: .file)
    var socket: String?

    @Flag(help: OptionHelp.noInput)
    var noInput = false

    var options: Options { Options(json: json, timeout: timeout, socket: socket, noInput: noInput) }
}

/// For a command that is about a session, if the options of its `common` do not name one.
struct SessionOption: ParsableArguments {
    @Option(name: [.short, .long], help: OptionHelp.session, completion: .sessions)
    var session: String?
}

private enum OptionHelp {
    static let session: ArgumentHelp =
        "The session. Default: $AUTHD_SESSION, the rule for the folder, the default session."
    static let json: ArgumentHelp = "Print JSON, errors too."
    static let timeout: ArgumentHelp = "How long to wait, such as 500ms, 30s or 5m."
    static let socket: ArgumentHelp = "The agent's socket."
    static let noInput: ArgumentHelp = "Never prompt on the terminal."
}

func length(_ text: String) throws(ValidationError) -> Duration {
    guard let length = Span.parse(text) else {
        throw ValidationError("'\(Visible.line(text))' is not a length of time; write 500ms, 30s, 5m, 2h or 1d.")
    }
    return length
}
