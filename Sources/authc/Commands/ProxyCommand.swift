import AuthConnection
import AuthWire
import CommandArguments

struct Proxy: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy", abstract: "Pass requests on to a session's server, with its token.",
        discussion: """
            A reverse proxy for programs that only know a URL. It prints the address to use instead of the server's, and \
            runs until it is ended. Requests for other hosts are refused. A token that the server refuses (401) is renewed, \
            and the request sent once more if its body is short. It never signs in by itself.
            """)

    @Option(name: [.short, .long], help: "The session.", completion: .sessions)
    var session: String?

    @Option(
        help: ArgumentHelp(
            "Where to listen: unix:PATH, 127.0.0.1:PORT or [::1]:PORT (port 0: any). Default: a Unix socket.",
            valueName: "address"),
        completion: .list(["127.0.0.1:0", "[::1]:0", "unix:"]))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "Read the key of a port from this file. Default: a random key for each start.", valueName: "file"),
        completion: .file)
    var keyFile: String?

    @Option(help: ArgumentHelp("The server. Default: that of the session.", valueName: "url"), completion: .origins)
    var to: String?

    @Option(
        help: ArgumentHelp("Serve web pages of this origin, too.", valueName: "origin"), completion: .nothing)
    var allowOrigin: [String] = []

    @Flag(help: "Only print the address to use. For a port, it needs its number and --key-file.")
    var url = false

    @Option(
        help: "How long the server may take before it begins a response. Default: 15m.", completion: .lengths,
        transform: length)
    var timeout: Duration?

    @OptionGroup var common: SocketOption

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        var options = options
        options.session = session
        var words = [try InstalledProgram.gateway(), "proxy"]
        if let session = try options.chosenSession() {
            try NameAdvice.check(session, options)
            words += ["--session", session.text]
        }
        if let socket = options.socket { words += ["--socket", socket] }
        if let listen { words += ["--listen", listen] }
        if let keyFile { words += ["--key-file", keyFile] }
        if let to { words += ["--to", to] }
        for origin in allowOrigin { words += ["--allow-origin", origin] }
        if url { words.append("--url") }
        if let timeout { words += ["--timeout-ms", "\(timeout.wholeMilliseconds)"] }
        try ChildProgram(command: words, variables: []).replaceThis()
    }
}
