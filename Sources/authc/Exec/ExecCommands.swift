import AuthWire
import CommandArguments
import Glibc

/// Which token a command passes on.
struct TokenChoice: ParsableArguments {
    @Option(
        help: "Renew the token first if it is valid for less than this, such as 5m.", completion: .lengths,
        transform: length)
    var minValid: Duration?

    @Option(help: "Get a separate token with this scope only. May be repeated. OAuth only.", completion: .scopes)
    var scope: [String] = []

    @Option(
        help: "Get a separate token for this audience: the API's address or name. OAuth only.", completion: .nothing)
    var audience: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Where you send the token, such as https://api.example.org. Fails if the session does not belong there.",
            valueName: "origin"), completion: .origins)
    var origin: String?

    func request(_ options: Options) throws(Failure) -> TokenRequest {
        if let origin { try OriginArgument.check(origin) }
        return TokenRequest(
            session: try options.chosenSession(), minValid: minValid, scopes: scope.isEmpty ? nil : scope,
            audience: audience, origin: origin, timeout: options.timeout)
    }
}

private let variableHelp = ArgumentHelp(
    """
    Variables with their values: access_token, authorization, token_type, expires_at, session, provider, environment, \
    user.id, user.name, user.email. Default: AUTHD_TOKEN=access_token.
    """, valueName: "name=value,...")

struct Exec: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Run a command with a session's token.",
        usage: "authc exec [<options>] -- <command> [<argument> ...]",
        discussion: """
            The token is in the variable AUTHD_TOKEN unless another way is chosen. authc ends as the command ends. \
            Exit status 126: the command cannot be started; 127: it was not found.
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var choice: TokenChoice

    @Option(help: variableHelp, completion: .tokenVariables, transform: variableList)
    var env: [[TokenVariable]] = []

    @Option(
        help: ArgumentHelp("The command can read the token from this descriptor.", valueName: "number"),
        completion: .nothing)
    var fd: Int32?

    @Option(
        help: ArgumentHelp(
            "Write the token to a file in memory, with its path in this variable. It is removed at the end.",
            valueName: "name"), completion: .nothing, transform: variableName)
    var file: String?

    @Option(
        help: "What to do after a renewal of the token: nothing, hup (needs --file) or restart.",
        completion: .words(RenewalAction.self),
        transform: renewalAction)
    var onRenewal: RenewalAction = .nothing

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The command and its arguments.", valueName: "command"),
        completion: .programs)
    var command: [String] = []

    func validate() throws(ValidationError) {
        guard command.first?.isEmpty == false else {
            throw ValidationError("Write the command after two hyphens, such as authc exec -- CMD.")
        }
        if let fd, fd < 3 { throw ValidationError("--fd: 0 to 2 are the command's input and output.") }
        if onRenewal == .hup, file == nil {
            throw ValidationError("--on-renewal hup needs --file: variables of a running command cannot change.")
        }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let chosen = env.isEmpty && fd == nil && file == nil ? [.standard] : env.flatMap { $0 }
        let request = try choice.request(options)
        let credential = try Credential(request, for: chosen.map(\.value), from: try options.connect())
        let tokenFile: TokenFile? = if file != nil { try TokenFile() } else { nil }
        let program = { (credential: Credential) throws(Failure) -> ChildProgram in
            var program = ChildProgram(command: command, variables: try credential.values(of: chosen))
            // If the command runs authc, that uses the same session.
            program.variables.append(("AUTHD_SESSION", credential.token.session.text))
            if let socket = options.socket { program.variables.append(("AUTHD_SOCKET", socket)) }
            if let file, let tokenFile { program.variables.append((file, tokenFile.path)) }
            if let fd { program.descriptors = [(fd, try TokenDescriptor.make(credential.token.accessToken))] }
            return program
        }
        if tokenFile == nil, onRenewal == .nothing { try program(credential).replaceThis() }
        var supervisor = try Supervisor(
            options, request, credential, onRenewal, file: tokenFile, makeProgram: program)
        try supervisor.run()
    }
}

struct Env: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "env", abstract: "Print variables with a session's token for a shell's eval.",
        discussion: "In sh, bash and zsh: eval \"$(authc env)\". In fish: authc env --shell fish | source.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var choice: TokenChoice

    @Option(help: variableHelp, completion: .tokenVariables, transform: variableList)
    var env: [[TokenVariable]] = []

    @Option(help: "The shell: sh, fish or csh.", completion: .words(ShellSyntax.self), transform: shellSyntax)
    var shell: ShellSyntax = .sh

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let chosen = env.isEmpty ? [.standard] : env.flatMap { $0 }
        let credential = try Credential(
            try choice.request(options), for: chosen.map(\.value), from: try options.connect())
        let values = try credential.values(of: chosen)
        if options.json {
            var object = JSONObject()
            for (name, value) in values { object[name] = .string(value) }
            var result: JSONObject = ["variables": .object(object)]
            result["expires_at"] = credential.token.expirySecond.map { .integer($0) }
            return try Output.jsonResult(.object(result))
        }
        var lines = values.map { shell.assignment($0.name, $0.value) }
        // The comment is last: without quotes around the substitution, the shell sees one line. csh has none outside
        // scripts.
        if shell != .csh, let end = credential.token.expiresAt {
            lines.append("# \(credential.token.session) expires at \(WallClock.text(end, now: WallClock.now))")
        }
        // Names are the provider's text.
        if Screen.current.isTerminal { lines = lines.map(Visible.line) }
        try Output.result(lines.joined(separator: "\n"))
        return .done
    }
}

/// How a shell assigns a variable that its children inherit.
enum ShellSyntax: String, CaseIterable {
    case sh, fish, csh

    func assignment(_ name: String, _ value: String) -> String {
        switch self {
        case .sh: "export \(name)=\(quoted(value));"
        case .fish: "set -gx \(name) \(quoted(value));"
        case .csh: "setenv \(name) \(quoted(value));"
        }
    }

    /// A word that stands for the value.
    func quoted(_ value: String) -> String {
        switch self {
        case .sh: quoted(value, "'\\''")
        case .fish: quoted(value.replacing("\\", with: "\\\\"), "\\'")
        // In csh, ! is special inside quotes too.
        case .csh: quoted(value, "'\\''").replacing("!", with: "\\!").replacing("\n", with: "\\\n")
        }
    }

    private func quoted(_ value: String, _ quote: String) -> String { "'\(value.replacing("'", with: quote))'" }
}

private func variableList(_ text: String) throws(ValidationError) -> [TokenVariable] {
    do throws(TokenVariable.Mistake) { return try TokenVariable.list(text) } catch { throw ValidationError(error.text) }
}

private func variableName(_ text: String) throws(ValidationError) -> String {
    do throws(TokenVariable.Mistake) { return try TokenVariable.variable(text) } catch {
        throw ValidationError(error.text)
    }
}

private func renewalAction(_ text: String) throws(ValidationError) -> RenewalAction {
    try word(text)
}

private func shellSyntax(_ text: String) throws(ValidationError) -> ShellSyntax {
    try word(text)
}

func word<Word: CaseIterable & RawRepresentable<String>>(_ text: String) throws(ValidationError) -> Word {
    guard let word = Word(rawValue: text) else {
        throw ValidationError(NameAdvice.refusal(of: text, Word.self))
    }
    return word
}
