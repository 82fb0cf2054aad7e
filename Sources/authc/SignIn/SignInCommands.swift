import AuthWire
import CommandArguments

/// Gives fields without a terminal.
struct FieldOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The value of a field that is not secret.", valueName: "name=value"), completion: .fields)
    var field: [String] = []

    @Flag(help: "Read the password from stdin. If there are two, this is the new one.")
    var passwordStdin = false

    @Option(
        help: ArgumentHelp("Read a secret field from an open descriptor.", valueName: "name=fd"),
        completion: .secretFields)
    var secretFd: [String] = []

    /// - Parameter client: the value of `--client-id`.
    func given(_ options: Options, client: String? = nil) throws(Failure) -> FieldArguments {
        let field = field + (client.map { ["client_id=\($0)"] } ?? [])
        try FieldArguments.checkOpen(secretFd)
        if passwordStdin || !secretFd.isEmpty { try options.prepareForSecrets() }
        return try FieldArguments(fields: field, descriptors: secretFd, passwordFromInput: passwordStdin)
    }
}

struct SignInOptions: ParsableArguments {
    @Argument(
        help: "The provider; `authc provider list` shows all. Or a protected resource's URL.", completion: .providers)
    var provider: String?

    @Option(help: "An environment of the provider.", completion: .environments)
    var environment: String?

    @OptionGroup var fields: FieldOptions

    @Flag(help: "Store the password, so that the agent can sign in again if nothing else renews the session.")
    var remember = false

    @Flag(help: "End another sign-in to the same session that is in progress, such as one of a killed program.")
    var replace = false

    @Flag(help: "Replace the account of the session without asking.")
    var replaceAccount = false

    func validate() throws(ValidationError) {
        // For example, a variable of a script that is not set.
        guard provider != "" else { throw ValidationError("The provider's name is empty.") }
    }

    /// - Parameter target: what was chosen, if the command line does not name it.
    func run(
        _ target: FirstSignIn.Target? = nil, method: String?, scopes: [String] = [], client: String? = nil,
        share: Bool = true, lender: BrowserLender? = nil, _ options: Options
    ) throws(Failure) -> ExitStatus {
        guard let provider = provider ?? target?.provider else { throw .internalError("no provider is chosen") }
        return try SignIn.run(
            .signIn(
                provider: provider, environment: environment ?? target?.environment, method: method, scopes: scopes,
                remember: remember, share: share),
            fields.given(options, client: client), options, replaces: replace, replacesAccount: replaceAccount,
            lender: lender)
    }
}

struct LoginCommand: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Sign in.",
        discussion: """
            Asks on the terminal for what is missing, even for the provider. Secrets are not shown, and are never arguments. \
            If the agent's user unit is installed but not running, its socket is started.
            """)

    @OptionGroup var common: AskingCommonOptions
    @OptionGroup var signIn: SignInOptions

    @Option(help: "A sign-in method of the provider. Default: its first.", completion: .methods)
    var method: String?

    @Flag(help: "OAuth only: sign in with the browser of this machine.")
    var web = false

    @Flag(help: "OAuth only: show a code to enter on another device.")
    var device = false

    @Flag(help: "OAuth only: sign in with any browser, and paste its last address here.")
    var paste = false

    @Option(
        help: ArgumentHelp(
            "OAuth only: use the browser of the machine that forwards this socket, with `ssh -R`.",
            valueName: "socket-or-name"),
        completion: .lenders)
    var from: String?

    @Option(
        help: ArgumentHelp(
            "OAuth only: request this scope instead of the usual ones. May be repeated.", valueName: "scope"),
        completion: .providerScopes)
    var scope: [String] = []

    @Option(
        name: .customLong("client-id"),
        help: ArgumentHelp("With a URL: the client that you have registered there.", valueName: "id"),
        completion: .nothing)
    var clientID: String?

    @Flag(
        inversion: .prefixedNo,
        help: "With a URL: use the sign-in of another session at the same server, if the server allows it.")
    var share = true

    func validate() throws(ValidationError) {
        guard clientID == nil || signIn.provider.map(SignInRequestOptions.isURL) == true else {
            throw ValidationError("--client-id is for a sign-in to a URL; a profile names its client.")
        }
        guard ways.count + (method == nil ? 0 : 1) <= 1 else {
            throw ValidationError("Use only one of --web, --device, --paste and --method.")
        }
        guard from != nil else { return }
        guard !paste else { throw ValidationError("Use only one of --paste and --from.") }
        guard signIn.provider.map(SignInRequestOptions.isURL) != true else {
            throw ValidationError("--from is for a provider with a profile, on both machines.")
        }
    }

    /// The methods that the flags stand for.
    private var ways: [String] {
        [(web, "browser"), (device, "device"), (paste, "paste")].filter(\.0).map(\.1)
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let lender = if let from { try BrowserLender(from) } else { BrowserLender?.none }
        AgentStart.ifNeeded(options)
        let target = signIn.provider == nil ? try FirstSignIn.run(options) : nil
        // --from needs a browser, even if the provider's first method is another one.
        let chosen = ways.first ?? method ?? (from == nil ? nil : "browser")
        do throws(Failure) {
            return try signIn.run(
                target, method: chosen, scopes: scope, client: clientID, share: share, lender: lender, options)
        } catch {
            let provider = signIn.provider ?? target?.provider
            throw unoffered(error, provider, options) ?? exampleAddress(error, provider, options)
                ?? repeatable(error, target) ?? error
        }
    }

    /// The flag that chose the method, if one did.
    private var flag: String? {
        [(web, "--web"), (device, "--device"), (paste, "--paste"), (from != nil && method == nil, "--from")]
            .first(where: \.0)?.1
    }

    /// The error with the flag that the user typed instead of a method.
    private func unoffered(_ error: Failure, _ provider: String?, _ options: Options) -> Failure? {
        let isAboutMethod =
            error.agentError?.cause == "unknown_method" || error.message.hasPrefix(SignInRequestOptions.methodOption)
        guard isAboutMethod, let flag, let provider,
            let detail = try? options.connect().call(ProviderShow(ProviderParams(provider: provider))).value
        else { return nil }
        let command = CommandText.login(
            provider, session: common.session.flatMap { try? SessionName($0) }, environment: signIn.environment)
        let names = detail.methods.map(\.name).joined(separator: ", ")
        return Failure(
            status: error.status, kind: error.kind,
            message: "\(detail.title) does not offer \(flag); it offers: \(names)",
            hint: "`\(command)` uses the first")
    }

    /// The error of a server whose address is only an example, with the command that asks for the user's own server.
    private func exampleAddress(_ error: Failure, _ provider: String?, _ options: Options) -> Failure? {
        guard let cause = error.agentError, cause.kind == .providerUnreachable, let provider,
            let detail = try? options.connect().call(ProviderShow(ProviderParams(provider: provider))).value,
            let url = detail.environments.map(\.url).first(where: { url in
                DescriptionURL.isExample(url) && cause.message.contains(DescriptionURL(url)?.host ?? url)
            })
        else { return nil }
        var failure = error
        failure.hint = "\(url) is only an example: `\(CommandText.login(nil))` asks for the address of your server"
        return failure
    }

    /// The error of a refused sign-in, with a hint that repeats what the user has chosen, so that nothing has to be
    /// chosen again.
    private func repeatable(_ error: Failure, _ target: FirstSignIn.Target?) -> Failure? {
        guard let target, let refusal = error.agentError, refusal.kind == .refused,
            error.hint == NextStep.after(refusal)
        else { return nil }
        var failure = error
        let environment = target.environment.map { ["--environment", $0] } ?? []
        failure.hint = NextStep.after(refusal, typed: TypedCommand.again(with: [target.provider] + environment))
        return failure
    }
}

struct Register: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "register", abstract: "Create an account at a provider, and sign in.")

    @OptionGroup var common: AskingCommonOptions
    @OptionGroup var signIn: SignInOptions

    @Option(help: "A registration method of the provider.", completion: .methods)
    var method = "register"

    func validate() throws(ValidationError) {
        guard signIn.provider != nil else {
            throw ValidationError("Name a provider; `authc provider list` shows all.")
        }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        AgentStart.ifNeeded(options)
        return try signIn.run(method: method, options)
    }
}
