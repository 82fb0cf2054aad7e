import AuthWire
import CommandArguments

/// The command line of `keyring` (PyPI), as far as pip and uv call it: see ``PipConfiguration``.
struct PipHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "pip", abstract: "Give pip and uv a token as the password, in place of the program keyring.",
        discussion: "They call it: `authc helper install pip` configures that.")

    @OptionGroup var common: CommonOptions

    @Option(
        help: "The user name if pip does not send one. Some servers require a particular one.", completion: .nothing)
    var user = HelperToken.standardUser

    @Option(help: "password, or creds with the user name.", completion: .words(KeyringMode.self), transform: modeWord)
    var mode: KeyringMode = .password

    @Option(help: "plain or json.", completion: .words(KeyringForm.self), transform: formWord)
    var output: KeyringForm = .plain

    @Argument(help: ArgumentHelp("get, set or del.", valueName: "action"), completion: .list(Self.actions))
    var action: String

    private static let actions = ["get", "set", "del"]

    @Argument(help: ArgumentHelp("The address of the package index.", valueName: "url"), completion: .origins)
    var service: String

    @Argument(help: ArgumentHelp("The user name in that address.", valueName: "name"), completion: .nothing)
    var name: String?

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        guard action == "get" else {
            try Helper.check(action, Self.actions)
            throw Failure(
                status: ExitStatus(.unsupported), kind: ErrorKind.unsupported.rawValue,
                message: "authd does not store passwords of package indexes", hint: "sign in: `authc login`")
        }
        do throws(Failure) {
            // pip asks for the host alone as well, and would send that token without TLS too.
            guard service.hasPrefix("https://") || service.hasPrefix("http://") else {
                throw .usage("'\(Visible.line(service))' is not a URL: authd gives tokens to an origin only")
            }
            let token = try HelperToken(options: options, origin: service).get()
            try write(user: name ?? user, password: token.accessToken)
            return .done
        } catch {
            error.report(asJSON: false)
            return .credentialsNotFound
        }
    }

    private func write(user: String, password: String) throws(Failure) {
        switch (output, mode) {
        case (.json, _): try Output.json(["username": .string(user), "password": .string(password)])
        case (.plain, .password): try Output.result(password)
        case (.plain, .creds): try Output.result("\(user)\n\(password)")
        }
    }
}

enum KeyringMode: String, CaseIterable {
    case password, creds
}

enum KeyringForm: String, CaseIterable {
    case plain, json
}

private func modeWord(_ text: String) throws(ValidationError) -> KeyringMode { try word(text) }

private func formWord(_ text: String) throws(ValidationError) -> KeyringForm { try word(text) }
