import AuthConnection
import AuthWire
import CommandArguments

struct Mcp: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp", abstract: "Connect a program on standard input and output to an MCP server.",
        discussion: """
            For programs that start their MCP servers as commands. Each request gets the token of the session that is \
            signed in to the URL. Without a session, requests are sent without a token. It never signs in by itself: a \
            request that needs a sign-in fails with the command that signs in.
            """)

    @Argument(help: ArgumentHelp("The server's URL.", valueName: "url"), completion: .origins)
    var url: String

    @Option(
        name: [.short, .long], help: "The session. Default: the one that is signed in to the URL.",
        completion: .sessions)
    var session: String?

    @Option(
        help: "How long the server may take before it begins a response. Default: 15m.", completion: .lengths,
        transform: length)
    var timeout: Duration?

    @OptionGroup var common: SocketOption

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        var words = [try InstalledProgram.gateway(), "mcp", url]
        if let session {
            let name = try Options.sessionName(session, from: "--session")
            try NameAdvice.check(name, options)
            words += ["--session", name.text]
        }
        if let socket = options.socket { words += ["--socket", socket] }
        if let timeout { words += ["--timeout-ms", "\(timeout.wholeMilliseconds)"] }
        try ChildProgram(command: words, variables: []).replaceThis()
    }
}

/// For a command that calls the agent in another program.
struct SocketOption: CommandOptions {
    @Option(help: "The agent's socket.", completion: .file)
    var socket: String?

    @Flag(help: .hidden)
    var noInput = false

    var options: Options { Options(socket: socket, noInput: noInput) }
}
