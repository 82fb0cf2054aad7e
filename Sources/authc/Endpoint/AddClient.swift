import AuthFiles
import AuthWire
import CommandArguments

struct AddClient: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make a key for a program, and say what it may have.",
        discussion: """
            The key is in a file that only you can read. `authc http env NAME` prints the variables that the program \
            needs. Any program of yours that can read the file can use the key.
            """)

    /// As long as a random key of the proxy's. It cannot be guessed.
    private static let keyBytes = 32

    @OptionGroup var common: FileOptions

    @Argument(help: "A name for the program.", completion: .nothing)
    var name: String

    @Option(
        name: [.short, .long],
        help: "The session. Can be repeated for the view token; the first one is for requests that name none.",
        completion: .sessions)
    var session: [String] = []

    @Option(
        help: "What the program gets: token, aws, gce or metrics.", completion: .words(EndpointClient.View.self),
        transform: clientView)
    var view: EndpointClient.View = .token

    @Option(help: "Only a token for this scope. Can be repeated.", completion: .scopes)
    var scope: [String] = []

    @Option(help: "Only a token for this audience.", completion: .nothing)
    var audience: String?

    @Option(help: ArgumentHelp("For aws: the role.", valueName: "arn"), completion: .nothing)
    var role: String?

    @Option(
        help: ArgumentHelp(
            "For aws: the Security Token Service. Default: \(EndpointClient.usualSTS).", valueName: "url"),
        completion: .nothing)
    var sts: String?

    @Option(help: "For gce: the program's own port on 127.0.0.1.", completion: .nothing)
    var port: Int?

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let name = try HTTPCommand.name(name)
        let client = try client()
        let folder = try HTTPCommand.folder()
        let names = try HTTPCommand.files { () throws(SystemFailure) in try folder.names() }
        guard !names.contains(name) else {
            throw .usage("there is a program '\(name)' already", hint: "remove it first: `authc http remove \(name)`")
        }
        guard names.count < EndpointFolder.mostClients else {
            throw .usage("there are \(names.count) programs, which is the limit", hint: "`authc http list` shows them")
        }
        if let port = client.port {
            for other in names where (try? folder.client(other))?.port == port {
                throw .usage("the program '\(other)' has port \(port) already", hint: "choose another --port")
            }
        }
        for session in client.sessions { try NameAdvice.check(session, options) }
        try HTTPCommand.files { () throws(SystemFailure) in
            try folder.add(client, named: name, key: Self.randomKey())
        }
        if options.json { return try Output.jsonResult(ClientRow(name: name, client: client, folder: folder).json) }
        Output.note("Added \(name). Its key is in \(Visible.line(folder.keyFile(of: name))).")
        if client.view == .gce {
            Output.note("Any program of yours that reaches port \(client.port ?? 0) gets its tokens, without the key.")
        }
        return .done
    }

    private func client() throws(Failure) -> EndpointClient {
        var sessions: [SessionName] = []
        for text in session { sessions.append(try Options.sessionName(text, from: "--session")) }
        let client = EndpointClient(
            view: view, sessions: sessions, scopes: scope.isEmpty ? nil : scope, audience: audience, role: role,
            sts: sts, port: port)
        do throws(AgentError) {
            try client.validate()
        } catch {
            throw .usage(error.message)
        }
        return client
    }

    /// In hexadecimal digits.
    private static func randomKey() -> String {
        var source = SystemRandomNumberGenerator()
        return (0..<keyBytes).map { _ in
            let digits = String(UInt8.random(in: 0...255, using: &source), radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

private func clientView(_ text: String) throws(ValidationError) -> EndpointClient.View { try word(text) }
