import AuthConnection
import AuthFiles
import AuthWire
import CommandArguments

/// The local HTTP endpoint, which `authd-gateway` serves, and the programs that may use it.
struct HTTPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http", abstract: "Give tokens to programs that can only use HTTP.",
        discussion: """
            A local endpoint for SDKs. Each program has its own key, and gets the tokens of the sessions that it was added \
            with, in one form (a view): as JSON, as credentials of an AWS role, or as the metadata server of Google \
            Compute Engine returns them. It never signs in by itself.
            """,
        subcommands: [ServeEndpoint.self, AddClient.self, ListClients.self, RemoveClient.self, ClientVariables.self])

    /// Where ``ServeEndpoint`` and `authd-http.socket` listen.
    static let usualAddress = "127.0.0.1:7871"

    static func folder() throws(Failure) -> EndpointFolder {
        guard let folder = EndpointFolder(environment: environmentValue) else {
            throw .usage("there is no folder for the programs, because HOME is not set")
        }
        return folder
    }

    static func name(_ text: String) throws(Failure) -> ClientName {
        do throws(AgentError) {
            return try ClientName(text)
        } catch {
            throw .usage(error.message)
        }
    }

    /// - Throws: if there is no such program.
    static func client(_ name: ClientName, in folder: EndpointFolder) throws(Failure) -> EndpointClient {
        let client: EndpointClient?
        do throws(AgentError) {
            client = try folder.client(name)
        } catch {
            throw .internalError(error.message)
        }
        guard let client else { throw missing(name) }
        return client
    }

    /// Reports a file that cannot be read or written.
    static func files<Value>(_ work: () throws(SystemFailure) -> Value) throws(Failure) -> Value {
        do throws(SystemFailure) {
            return try work()
        } catch {
            throw .internalError("\(error)")
        }
    }

    static func missing(_ name: ClientName) -> Failure {
        let near = NameAdvice.meant(name.text, among: KnownNames.clients()).map { $0 + " " } ?? ""
        return .usage("there is no program '\(name)'", hint: near + "`authc http list` shows the programs")
    }
}

struct ServeEndpoint: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the programs that were added.",
        discussion: """
            It prints where it listens, and runs until it is ended. To have it at each login: systemctl --user enable \
            --now authd-http.socket. A program with the view gce has its own port, which is open while this runs: enable \
            authd-http.service for it, and restart it after such a program was added.
            """)

    @Option(
        help: ArgumentHelp(
            "Where to listen: 127.0.0.1:PORT or [::1]:PORT (port 0: any). Can be repeated. Default: "
                + HTTPCommand.usualAddress + ".", valueName: "address"),
        completion: .list([HTTPCommand.usualAddress]))
    var listen: [String] = []

    @Flag(help: "Listen on the Unix socket $XDG_RUNTIME_DIR/authd-http/socket, too.")
    var unix = false

    @OptionGroup var common: SocketOption

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        var words = [try InstalledProgram.gateway(), "http"]
        for address in listen.isEmpty ? [HTTPCommand.usualAddress] : listen { words += ["--listen", address] }
        if unix { words.append("--unix") }
        if let socket = options.socket { words += ["--socket", socket] }
        try ChildProgram(command: words, variables: []).replaceThis()
    }
}

struct RemoveClient: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a program and its key.",
        discussion: "It gets nothing more from that moment on. Tokens that it has stay valid until they end.")

    @OptionGroup var common: FileOptions

    @Argument(help: "The program.", completion: .clients)
    var name: String

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let name = try HTTPCommand.name(name)
        let folder = try HTTPCommand.folder()
        let wasThere = try HTTPCommand.files { () throws(SystemFailure) in try folder.remove(name) }
        guard wasThere else { throw HTTPCommand.missing(name) }
        if options.json { return try Output.jsonResult(["removed": .string(name.text)]) }
        Output.note("Removed \(name).")
        return .done
    }
}
