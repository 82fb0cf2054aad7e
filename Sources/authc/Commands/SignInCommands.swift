import ArgumentParser

/// How fields are given without a terminal.
struct FieldOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("What a field is, where it is no secret.", valueName: "name=value"))
    var field: [String] = []

    @Flag(help: "Read the password from stdin; of two, the new one.")
    var passwordStdin = false

    @Option(
        help: ArgumentHelp("Read a secret field from an open descriptor.", valueName: "name=fd"))
    var secretFd: [String] = []

    func given(_ options: Options) throws(Failure) -> FieldArguments {
        try FieldArguments.checkOpen(secretFd)
        if passwordStdin || !secretFd.isEmpty { try options.prepareForSecrets() }
        return try FieldArguments(fields: field, descriptors: secretFd, passwordFromInput: passwordStdin)
    }
}

/// What `login` and `register` take.
struct SignInOptions: ParsableArguments {
    @Argument(
        help: "The provider; `authc provider list` shows all.",
        completion: .custom { _, _, _ in KnownNames.providers() })
    var provider: String

    @Option(help: "One of the provider's environments.")
    var environment: String?

    @OptionGroup var fields: FieldOptions

    @Flag(help: "Let the agent keep the answers and sign in again by itself where nothing else renews the session.")
    var remember = false

    @Flag(help: "End a sign-in to the same session that is under way, as of a program that was killed.")
    var replace = false

    @Flag(help: "Give the session to another account if it has one; without this you are asked.")
    var replaceAccount = false

    func run(method: String?, _ options: Options) throws(Failure) -> ExitStatus {
        try SignIn.run(
            .signIn(provider: provider, environment: environment, method: method, remember: remember),
            fields.given(options), options, replaces: replace, replacesAccount: replaceAccount)
    }
}

struct Login: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign in.",
        discussion: "Asks on the terminal for what is missing; secrets without echo, never as an argument.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var signIn: SignInOptions

    @Option(help: "One of the provider's ways to sign in; its first when not given.")
    var method: String?

    @Flag(help: "At a provider with OAuth: in any browser, whose last address is pasted here.")
    var paste = false

    func validate() throws {
        guard !paste || method == nil else { throw ValidationError("--paste is a method of its own.") }
    }

    func run() throws {
        try common.run { options throws(Failure) in try signIn.run(method: paste ? "paste" : method, options) }
    }
}

struct Register: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make an account at a provider, and sign in to it.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var signIn: SignInOptions

    @Option(help: "One of the provider's ways to register.")
    var method = "register"

    func run() throws {
        try common.run { options throws(Failure) in try signIn.run(method: method, options) }
    }
}

struct Logout: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Sign out: the provider is told and the store cleared.")

    @OptionGroup var common: CommonOptions

    @Flag(inversion: .prefixedNo, help: "Tell the provider.")
    var revoke = true

    func run() throws {
        try common.run { options throws(Failure) in try SessionCommands.logout(options, revoke: revoke) }
    }
}
