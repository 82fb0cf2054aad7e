import CommandArguments

struct Password: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Set, change or reset an account's password.",
        subcommands: [SetFirst.self, Change.self, RequestReset.self, Reset.self])

    struct SetFirst: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set the first password of a session's account.")

        @OptionGroup var common: AskingCommonOptions
        @OptionGroup var fields: FieldOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            try SignIn.run(.password(.set, provider: nil, environment: nil), fields.given(options), options)
        }
    }

    struct Change: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "change", abstract: "Change the password of a session's account.")

        @OptionGroup var common: AskingCommonOptions
        @OptionGroup var fields: FieldOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            try SignIn.run(.password(.change, provider: nil, environment: nil), fields.given(options), options)
        }
    }

    struct RequestReset: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "request-reset", abstract: "Make a provider send the code for a reset, without resetting.")

        @OptionGroup var common: AskingCommonOptions
        @OptionGroup var place: PasswordPlace
        @OptionGroup var fields: FieldOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            try SignIn.run(place.goal(.requestReset), fields.given(options), options)
        }
    }

    struct Reset: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset", abstract: "Reset a forgotten password, and sign in.",
            discussion: "Makes the provider send the code, unless you give it.")

        @OptionGroup var common: AskingCommonOptions
        @OptionGroup var place: PasswordPlace
        @OptionGroup var fields: FieldOptions

        @Flag(help: "Replace the account of the session without asking.")
        var replaceAccount = false

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            try SignIn.run(
                place.goal(.reset), fields.given(options), options, replacesAccount: replaceAccount)
        }
    }
}

/// Where to reset a password.
struct PasswordPlace: ParsableArguments {
    @Argument(
        help: "The provider; `authc provider list` shows all.", completion: .providers)
    var provider: String

    @Option(help: "An environment of the provider.", completion: .environments)
    var environment: String?

    func goal(_ verb: SignInRequestOptions.PasswordVerb) -> SignInRequestOptions {
        .password(verb, provider: provider, environment: environment)
    }
}
