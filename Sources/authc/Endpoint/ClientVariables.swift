import AuthFiles
import AuthWire
import CommandArguments

struct ClientVariables: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "env", abstract: "Print the variables that a program needs, for a shell's eval.",
        discussion:
            "None of them has the key: they name its file. In sh, bash and zsh: eval \"$(authc http env NAME)\".")

    @OptionGroup var common: FileOptions

    @Argument(help: "The program.", completion: .clients)
    var name: String

    @Option(
        help: ArgumentHelp(
            "Where the endpoint listens. Default: \(HTTPCommand.usualAddress).", valueName: "address"),
        completion: .list([HTTPCommand.usualAddress]))
    var listen = HTTPCommand.usualAddress

    @Option(help: "The shell: sh, fish or csh.", completion: .words(ShellSyntax.self), transform: shellWord)
    var shell: ShellSyntax = .sh

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let name = try HTTPCommand.name(name)
        let folder = try HTTPCommand.folder()
        let client = try HTTPCommand.client(name, in: folder)
        let variables = variables(of: client, keyFile: folder.keyFile(of: name))
        if options.json {
            var object = JSONObject()
            for (name, value) in variables { object[name] = .string(value) }
            return try Output.jsonResult(["variables": .object(object)])
        }
        try Output.result(variables.map { shell.assignment($0.name, $0.value) }.joined(separator: "\n"))
        return .done
    }

    private func variables(of client: EndpointClient, keyFile: String) -> [(name: String, value: String)] {
        let url = "http://\(listen)"
        switch client.view {
        case .token, .metrics:
            let path = client.view == .token ? "/v1/token" : "/metrics"
            return [("AUTHD_HTTP_URL", url + path), ("AUTHD_HTTP_KEY_FILE", keyFile)]
        case .aws:
            return [
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", url + "/v1/aws"),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", keyFile),
            ]
        case .gce:
            // The first is the server's name for most libraries, the second is what they look for a server at.
            let address = "127.0.0.1:\(client.port ?? 0)"
            return [("GCE_METADATA_HOST", address), ("GCE_METADATA_IP", address)]
        }
    }
}

private func shellWord(_ text: String) throws(ValidationError) -> ShellSyntax { try word(text) }
